/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What NVTX has handles for: domains, registered texts, and the program's own locks
 * (nvtxDomainSyncUser*). Waiting for such a lock is a scope in the category
 * "domain/sync". All are names (nvtx_names.c), which are never freed, so calls that
 * destroy a handle do nothing. Any thread, also while gnomon is off, as it may be
 * switched on later. */
#include <stddef.h>
#include <stdio.h>

#include "inject/nvtx.h"

static const char *text_or_null(const char *text)
{
    return text ? text : "(null)";
}

/* ---- Domains and categories ----------------------------------------------- */

static nvtxDomainHandle_t NVTX_API domain_create_a(const char *name)
{
    return (nvtxDomainHandle_t)(void *)gnomon__inject_domain_of(
        text_or_null(name));
}

GNOMON__INJECT_WIDE(nvtxDomainHandle_t, domain_create_w, (const wchar_t *wide),
                    return domain_create_a(text.text))

static void NVTX_API domain_category_a(nvtxDomainHandle_t handle,
                                       uint32_t category, const char *name)
{
    gnomon__inject_label_set(gnomon__inject_domain_at(handle), category,
                             text_or_null(name));
}

GNOMON__INJECT_WIDE(void, domain_category_w,
                    (nvtxDomainHandle_t handle, uint32_t category,
                     const wchar_t *wide),
                    domain_category_a(handle, category, text.text))

static void NVTX_API category_a(uint32_t category, const char *name)
{
    domain_category_a(NULL, category, name);
}

GNOMON__INJECT_WIDE(void, category_w, (uint32_t category, const wchar_t *wide),
                    category_a(category, text.text))

/* ---- Registered texts ----------------------------------------------------- */

static nvtxStringHandle_t NVTX_API register_a(nvtxDomainHandle_t handle,
                                              const char *text)
{
    return (nvtxStringHandle_t)(void *)gnomon__inject_name_of(
        gnomon__inject_domain_at(handle), text_or_null(text),
        (int)load_relaxed(&gnomon__inject_replaces_numbers));
}

GNOMON__INJECT_WIDE(nvtxStringHandle_t, register_w,
                    (nvtxDomainHandle_t handle, const wchar_t *wide),
                    return register_a(handle, text.text))

/* ---- Locks ---------------------------------------------------------------- */

/* The domain for waits in `domain`. Waits have a stack of their own, as a push that the
 * program makes while it waits must not be popped by the wait's end. */
static gnomon__inject_domain *sync_of(const gnomon__inject_domain *domain)
{
    char text[1024];
    snprintf(text, sizeof text, "%.1000s%ssync", domain->text,
             *domain->text ? "/" : "");
    return gnomon__inject_domain_of(text);
}

static nvtx_nvtxSyncUser_t NVTX_API sync_create(
    nvtxDomainHandle_t handle, const nvtx_nvtxSyncUserAttributes_t *attributes)
{
    const nvtxSyncUserAttributes_t *a = attributes;
    gnomon__inject_text text = {.text = "(null)"};
    if (a && a->size >= offsetof(nvtxSyncUserAttributes_t, message) +
                            sizeof a->message)
        gnomon__inject_message(&text, a->messageType, a->message);
    gnomon__inject_name *name = gnomon__inject_name_of(
        sync_of(gnomon__inject_domain_at(handle)), text.text, 0);
    gnomon__inject_text_free(&text);
    return name;
}

static void NVTX_API sync_wait(nvtx_nvtxSyncUser_t handle)
{
    gnomon__inject_name *name = handle;
    if (name)
        gnomon__inject_push(
            name->domain,
            GNOMON__INJECT_ON() ? gnomon__inject_regions_of(name, 0) : NULL);
}

static void NVTX_API sync_over(nvtx_nvtxSyncUser_t handle)
{
    const gnomon__inject_name *name = handle;
    if (name)
        gnomon__inject_pop(name->domain);
}

const gnomon__inject_call gnomon__inject_handles[] = {
    GNOMON__INJECT_CALL(CORE, NameCategoryA, category_a),
    GNOMON__INJECT_CALL(CORE, NameCategoryW, category_w),
    GNOMON__INJECT_CALL(CORE2, DomainNameCategoryA, domain_category_a),
    GNOMON__INJECT_CALL(CORE2, DomainNameCategoryW, domain_category_w),
    GNOMON__INJECT_CALL(CORE2, DomainRegisterStringA, register_a),
    GNOMON__INJECT_CALL(CORE2, DomainRegisterStringW, register_w),
    GNOMON__INJECT_CALL(CORE2, DomainCreateA, domain_create_a),
    GNOMON__INJECT_CALL(CORE2, DomainCreateW, domain_create_w),
    GNOMON__INJECT_CALL(SYNC, DomainSyncUserCreate, sync_create),
    GNOMON__INJECT_CALL(SYNC, DomainSyncUserAcquireStart, sync_wait),
    GNOMON__INJECT_CALL(SYNC, DomainSyncUserAcquireFailed, sync_over),
    GNOMON__INJECT_CALL(SYNC, DomainSyncUserAcquireSuccess, sync_over),
    {.function = NULL}};
