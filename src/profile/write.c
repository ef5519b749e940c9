/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* gnomon_profile_write: a profile in one of its two forms. */
#include "gnomon/profile.h"
#include "platform/error.h"
#include "platform/os.h"
#include "profile/forms.h"

static int write_as(int form, const gnomon_profile *p, const gnomon_writer *out)
{
    switch (form) {
    case GNOMON_FORM_FILE:
        return gnomon__write_file(p, out);
    case GNOMON_FORM_JSON:
        return gnomon__write_json(p, out);
    }
    return gnomon__fail(GNOMON_EINVAL, "no such form: %d", form);
}

/* The writer, the caller's, is called while memory of ours is held. */
int gnomon_profile_write(const gnomon_profile *p, int form,
                         const gnomon_writer *out)
{
    gnomon__fail_clear();
    if (!p || !out || !out->write)
        return gnomon__fail(GNOMON_EINVAL, "no profile, or no writer");
    int cancel = gnomon__os_cancel_off();
    int code = write_as(form, p, out);
    gnomon__os_cancel_back(cancel);
    return code;
}
