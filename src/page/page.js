// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page: reads the tables that src/page/page.c writes, adds up what is chosen, and draws
// it. Texts of profiles become text nodes alone, so no name is ever HTML. What is drawn is
// bounded: rows in sight, boxes of a pixel or more, columns of a strip.
'use strict';

const $ = id => document.getElementById(id);
const MOST_BOXES = 2500, ROW = 28, MOST_BARS = 300, SLOW = 1.25;
const SVG = 'http://www.w3.org/2000/svg';

// ---- Elements -----------------------------------------------------------------------

function fill(e, props, children) {
    for (const [k, v] of Object.entries(props || {})) {
        if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
        else if (v !== undefined && v !== null && v !== false) e.setAttribute(k, v);
    }
    e.append(...children.flat().filter(c => c !== null && c !== undefined));
    return e;
}
const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
const g = (tag, props, ...children) =>
    fill(document.createElementNS(SVG, tag), props, children);

// ---- Numbers as text ------------------------------------------------------------------

const NARROW = '\u202f';

function digits(x, n = 4) {
    if (!isFinite(x)) return '–';
    const whole = Math.max(1, Math.floor(Math.log10(Math.abs(x) || 1)) + 1);
    return x.toFixed(Math.max(0, n - whole));
}
function scaled(x, step, units) {
    let i = 0;
    while (i + 1 < units.length && Math.abs(x) >= step * 0.9995) { x /= step; i++; }
    return (i ? digits(x) : String(Math.round(x * 100) / 100)) + NARROW + units[i];
}
function time(ns) {
    if (Math.abs(ns) >= 60e9 * 0.9995 && Math.abs(ns) < 1e15) {
        const s = Math.round(Math.abs(ns) / 1e9);
        const text = s >= 3600 ? Math.floor(s / 3600) + NARROW + 'h ' +
            Math.floor(s % 3600 / 60) + NARROW + 'min'
            : Math.floor(s / 60) + NARROW + 'min ' + s % 60 + NARROW + 's';
        return (ns < 0 ? '−' : '') + text;
    }
    return scaled(ns, 1000, ['ns', 'µs', 'ms', 's']);
}
const size = b => scaled(b, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB']);
const count = n => String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, NARROW);
const percent = x => digits(x * 100, 3) + NARROW + '%';
const real = x => Number.isInteger(x) && Math.abs(x) < 1e9 ? count(x) : String(+x.toPrecision(6));
const plural = (n, word) => count(n) + ' ' + word + (n === 1 ? '' : 's');

// ---- The data ------------------------------------------------------------------------

let texts = [], T = {};

// Numbers of a column, each as more than the one before it: its sign in the lowest bit,
// then 7 bits to a byte. Shifts have 32 bits, so larger ones are multiplied.
function decode(bytes, at, n) {
    const out = new Float64Array(n);
    let last = 0;
    for (let i = 0; i < n; i++) {
        let b = bytes[at++];
        const isLess = b & 1;
        let more = (b & 127) >> 1, unit = 64;
        while (b > 127) {
            b = bytes[at++];
            more += (b & 127) * unit;
            unit *= 128;
        }
        last += isLess ? -more - 1 : more;
        out[i] = last;
    }
    return out;
}

async function load() {
    const index = JSON.parse($('index').textContent);
    const text = atob($('data').textContent);
    let bytes = new Uint8Array(text.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
    $('data').remove();
    if (index.gzip) {
        const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
        bytes = new Uint8Array(await new Response(plain).arrayBuffer());
    }
    let at = 0;
    for (const [name, n, columns, ...sizes] of index.tables) {
        T[name] = {n};
        columns.split(' ').forEach((c, i) => {
            if (c.endsWith(':d'))
                T[name][c.slice(0, -2)] =
                    new Float64Array(bytes.slice(at, at + sizes[i]).buffer);
            else
                T[name][c] = decode(bytes, at, n);
            at += sizes[i];
        });
    }
    texts = new TextDecoder().decode(bytes.subarray(at)).split('\0');
    if (T.runs) unite();
    // Moments of steps, since the earliest zero of all runs.
    if (T.steps) for (const k of ['begin', 'end'])
        T.steps[k] = T.steps[k + '_ns'].map((ns, i) => ns &&
            ns + T.runs.zero[T.stages.run[T.steps.stage[i]]]);
    return index;
}

// A run may have a file for each stage: what names a copy names the first of them.
function unite() {
    const first = keys => {
        const known = new Map();
        return keys.map((k, i) => !i || !k && keys === T.runs.uuid ? i
            : known.get(k) || (known.set(k, i), i));
    };
    const run = first(T.runs.uuid), view = first(T.views.words);
    T.runs.isCopy = run.map((r, i) => r !== i);
    for (const t of [T.stages, T.tracks]) t.run = t.run.map(r => run[r]);
    T.nodes.view = T.nodes.view.map(v => view[v]);
    T.runs.all = Array.from(run.keys()).filter(r => r && !T.runs.isCopy[r]);
    T.views.all = Array.from(view.keys()).filter(v => v && view[v] === v);
}

// ---- A table ---------------------------------------------------------------------------

// Columns: 'id|title|kind|about' of a row's field, or {id, title, show(value, row), ...}.
// null is an empty cell. Only rows in sight are elements. Arrows move the chosen row, a
// click or Enter on a title sorts.
const SHOW = {time, count, size, real, percent};
function column(of) {
    const [id, title, kind, about] = typeof of === 'string' ? of.split('|') : [];
    const c = typeof of === 'string' ? {id, title, about, text: kind === 'text',
        show: SHOW[kind]} : of;
    return {get: r => r[c.id], ...c};
}

class Table {
    constructor(label, columns, options = {}) {
        columns = columns.map(column);
        Object.assign(this, {columns, options, rows: [], shown: [], at: -1, words: ''});
        this.sorted = options.sort || null;
        this.down = true;
        this.head = h('tr', null, columns.map(c => h('th', {class: c.text ? 'text' : null,
            scope: 'col', 'data-id': c.id, title: c.about},
        h('button', {type: 'button', tabindex: -1, onclick: () => this.sort(c.id)}, c.title))));
        this.body = h('tbody');
        this.element = h('div', {class: 'scroll' + (options.wrap ? ' wrap' : ''), tabindex: 0,
            role: 'group', 'aria-label': label, onscroll: () => this.draw(),
            onkeydown: e => this.key(e)},
        h('table', {'aria-label': label}, h('thead', null, this.head), this.body));
        for (const b of this.head.querySelectorAll('button')) b.tabIndex = 0;
        all.push(this);
    }
    set(rows) { this.rows = rows; this.arrange(); return this; }
    find(words) { this.words = words.toLowerCase(); this.arrange(); }
    sort(id) {
        const c = this.columns.find(x => x.id === id);
        this.down = this.sorted === id ? !this.down : !c.text;
        this.sorted = id;
        this.arrange();
    }
    arrange() {
        const words = this.words.split(/\s+/).filter(Boolean);
        const chosen = this.shown[this.at];
        const named = this.columns.filter(c => c.text);
        this.shown = words.length ? this.rows.filter(r => {
            const text = named.map(c => c.get(r)).join('\n').toLowerCase();
            return words.every(w => text.includes(w));
        }) : this.rows.slice();
        const c = this.columns.find(x => x.id === this.sorted);
        if (c) {
            const sign = this.down ? -1 : 1;
            const keyed = this.shown.map(r => [c.get(r), r]);
            keyed.sort(c.text ? (a, b) => sign * (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)
                : (a, b) => sign * ((a[0] ?? -Infinity) - (b[0] ?? -Infinity)));
            this.shown = keyed.map(k => k[1]);
        }
        this.columns.forEach((x, i) => {
            const th = this.head.children[i];
            const is = x.id === this.sorted;
            if (is) th.setAttribute('aria-sort', this.down ? 'descending' : 'ascending');
            else th.removeAttribute('aria-sort');
            th.firstChild.textContent = x.title + (is ? this.down ? ' ↓' : ' ↑' : '');
        });
        this.at = chosen === undefined ? -1 : this.shown.indexOf(chosen);
        this.element.scrollTop = 0;
        this.draw(true);
        if (this.options.onshown) this.options.onshown(this.shown.length, this.rows.length);
    }
    // On paper there is nothing to scroll: the first rows.
    draw(isNew, onPaper) {
        const n = this.shown.length;
        const height = this.element.clientHeight || 500;
        const first = onPaper || this.options.wrap ? 0
            : Math.max(0, Math.floor(this.element.scrollTop / ROW) - 8);
        const last = Math.min(n, onPaper ? 60 : this.options.wrap ? 60
            : first + Math.ceil(height / ROW) + 16);
        if (!isNew && !onPaper && first === this.first && last === this.last) return;
        this.first = first;
        this.last = last;
        const pad = rows => {
            const td = h('td', {colspan: this.columns.length});
            td.style.height = rows * ROW + 'px';
            return h('tr', {class: 'pad', 'aria-hidden': true}, td);
        };
        const rows = [];
        if (first) rows.push(pad(first));
        for (let i = first; i < last; i++) rows.push(this.row(i));
        if (last < n && !onPaper) rows.push(pad(n - last));
        this.body.replaceChildren(...rows);
    }
    row(i) {
        const r = this.shown[i];
        return h('tr', {'data-at': i, 'aria-selected': this.options.onpick ? i === this.at
            : null, class: this.options.mark && this.options.mark(r),
        onclick: () => this.pick(i)},
        this.columns.map(c => {
            const v = c.get(r);
            const cell = h('td', {class: [c.text && 'text', c.mark].filter(Boolean).join(' ') ||
                null}, v === null || v === undefined ? '' : c.show ? c.show(v, r) : v);
            if (c.text) cell.title = String(v);
            return cell;
        }));
    }
    pick(i) {
        if (!this.options.onpick || i < 0 || i >= this.shown.length) return;
        this.at = i;
        const e = this.element, head = this.head.offsetHeight;
        if (i * ROW < e.scrollTop) e.scrollTop = i * ROW;
        else if ((i + 1) * ROW + head > e.scrollTop + e.clientHeight)
            e.scrollTop = (i + 1) * ROW + head - e.clientHeight;
        this.draw(true);
        this.options.onpick(this.shown[i]);
    }
    key(e) {
        if (e.target !== this.element || !this.options.onpick) return;
        const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 2);
        const by = {ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page,
            Home: -Infinity, End: Infinity}[e.key];
        if (!by) return;
        e.preventDefault();
        this.pick(Math.min(this.shown.length - 1, Math.max(0, this.at + by)));
    }
}
const all = []; // tables, for printing

// ---- Boxes: call trees and timelines -------------------------------------------------

const HUES = 6;
function hue(text) {
    let x = 7;
    for (let i = 0; i < text.length; i++) x = (x * 31 + text.charCodeAt(i)) >>> 0;
    return x % HUES;
}

// {x, width: shares of 1; y: px; text, title, data}. Narrow ones were left out before.
function box(b, onpick) {
    const width = b.width * 100;
    const e = h('b', {class: (b.many ? 'many' : 'f' + hue(b.text)) + (b.found ? ' found' : '') +
        (width < 1 ? ' thin' : ''), title: b.title, role: b.role, 'aria-level': b.level,
    'aria-selected': b.chosen === undefined ? null : !!b.chosen,
    onclick: () => onpick && onpick(b), ondblclick: () => onpick && onpick(b, true)},
    width < 1 ? '' : b.text);
    e.style.left = b.x * 100 + '%';
    e.style.width = width + '%';
    e.style.top = b.y + 'px';
    return e;
}

// ---- What is chosen, and what it adds up to --------------------------------------------

const state = {stage: '*', rank: '*', view: 0, words: '', row: null, step: 0};
let rowOf = [], rows = [];      // by region: a row; rows of the same place are one
let inView = null;              // by node: whether it is chosen
let cellsFrom = null;           // by node: its first cell

const name = i => texts[T.regions.name[i]] || '';
const runName = r => T.runs.rank[r] >= 0 ? 'rank ' + T.runs.rank[r]
    : texts[T.runs.host[r]] ? texts[T.runs.host[r]] + ' ' + T.runs.pid[r] : 'run ' + r;
function trackName(t) {
    const kind = ['thread', 'stream', 'lane', 'pool'][T.tracks.kind[t]] || 'track';
    const own = texts[T.tracks.name[t]] || kind + ' ' + T.tracks.os_id[t];
    return (T.runs.all.length > 1 ? runName(T.tracks.run[t]) + ' · ' : '') + own;
}
const isDevice = t => T.tracks.device[t] >= 0 && T.tracks.kind[t] !== 3;

function makeRows() {
    const known = new Map();
    rowOf = new Int32Array(T.regions.n);
    for (let i = 1; i < T.regions.n; i++) {
        const r = T.regions;
        const key = r.name[i] + ' ' + r.category[i] + ' ' + r.file[i] + ' ' + r.line[i] + ' ' +
            r.kind[i];
        let at = known.get(key);
        if (at === undefined) {
            known.set(key, at = rows.length);
            rows.push({at, region: i, name: name(i), category: texts[r.category[i]],
                place: texts[r.file[i]] ? texts[r.file[i]] + ':' + r.line[i] : ''});
        }
        rowOf[i] = at;
    }
    cellsFrom = new Int32Array(T.nodes.n + 1);
    for (let i = 0; i < T.cells.n; i++) cellsFrom[T.cells.node[i] + 1]++;
    for (let i = 0; i < T.nodes.n; i++) cellsFrom[i + 1] += cellsFrom[i];
}

function stageIsIn(s) {
    return (!s || state.stage === '*' || texts[T.stages.name[s]] === state.stage) &&
        (!s || state.rank === '*' || T.stages.run[s] === +state.rank);
}
function trackIsIn(t) { return state.rank === '*' || T.tracks.run[t] === +state.rank; }

// Sums of the chosen nodes by row; each row's nodes, for its histogram.
function addUp() {
    const N = T.nodes;
    inView = new Uint8Array(N.n);
    for (const r of rows)
        Object.assign(r, {calls: 0, total: 0, self: 0, min: Infinity, max: 0, device: 0,
            deviceCalls: 0, flops: 0, nodes: [], isRange: 0, open: 0});
    for (let i = 1; i < N.n; i++) {
        if (!stageIsIn(N.stage[i]) || !trackIsIn(N.track[i]) ||
            (state.view && N.view[i] && N.view[i] !== state.view) || N.flags[i] & 32)
            continue;
        inView[i] = 1;
        const r = rows[rowOf[N.region[i]]];
        if (!N.region[i] || !(N.calls[i] || N.deviceCalls[i] || N.open[i])) continue;
        r.calls += N.calls[i];
        r.total += N.total[i];
        r.self += Math.min(N.self[i], N.total[i]);
        if (N.calls[i]) r.min = Math.min(r.min, N.min[i]);
        r.max = Math.max(r.max, N.max[i]);
        r.device += N.device[i];
        r.deviceCalls += N.deviceCalls[i];
        r.flops += N.flops[i];
        r.isRange |= N.flags[i] & 2;
        r.open += N.open[i];
        r.nodes.push(i);
    }
    for (const r of rows) Object.assign(r, quantiles(r, [0.5, 0.9, 0.99]));
}

const sums = new Float64Array(976);
// The cells of all nodes of a row, ascending: [cell, count].
function cellsOf(r) {
    const met = [];
    for (const n of r.nodes)
        for (let k = cellsFrom[n]; k < cellsFrom[n + 1]; k++) {
            const c = T.cells.cell[k];
            if (!sums[c]) met.push(c);
            sums[c] += T.cells.count[k];
        }
    met.sort((a, b) => a - b);
    return met.map(c => { const n = sums[c]; sums[c] = 0; return [c, n]; });
}
const low = c => { const e = c < 32 ? 0 : (c >> 4) - 1; return (c - 16 * e) * 2 ** e; };
function quantiles(r, of) {
    const cells = r.nodes.length ? cellsOf(r) : [];
    const n = cells.reduce((a, c) => a + c[1], 0), out = {};
    for (const q of of) {
        let below = 0, value = n ? r.max : null;
        for (const [c, k] of cells) {
            if (below + k >= q * n) {
                const from = Math.max(low(c), r.calls ? r.min : 0);
                const to = Math.min(low(c + 1) - 1, r.calls ? r.max : Infinity);
                value = to <= from ? from : from + (to - from) * (q * n - below) / k;
                break;
            }
            below += k;
        }
        out['p' + q * 100] = value === null ? null : Math.floor(value);
    }
    return out;
}

// How long the chosen stages were recorded: in all runs, which is 100 per cent, and in each.
function recorded() {
    const runs = new Map();
    for (let s = 1; s < T.stages.n; s++)
        if (stageIsIn(s)) runs.set(T.stages.run[s],
            (runs.get(T.stages.run[s]) || 0) + T.stages.recorded[s]);
    if (!runs.size) for (let r = 1; r < T.runs.n; r++)
        if (state.rank === '*' || r === +state.rank) runs.set(r, T.runs.now_ns[r]);
    const all = [...runs.values()].reduce((a, b) => a + b, 0);
    return [all, all / (runs.size || 1)];
}

// ---- Sections ---------------------------------------------------------------------------

const sections = []; // {draw()}: drawn again when the choice changes

function section(id, title, about) {
    const note = h('p', {class: 'note'}, about || '');
    const element = h('section', {id, 'aria-labelledby': id + '-title'},
        h('h2', {id: id + '-title'}, title), note);
    $('main').append(element);
    $('nav').append(h('a', {href: '#' + id}, title));
    return {element, note, say: text => { note.textContent = text; }};
}
const lacks = (what, word) => [what + ': record it with ', h('code', null, 'GNOMON=' + word)];

function figures() {
    const stages = [], runs = new Set();
    for (let s = 1; s < T.stages.n; s++) if (stageIsIn(s)) {
        stages.push(s);
        runs.add(T.stages.run[s]);
    }
    const steps = stages.reduce((a, s) => a + T.stages.steps[s], 0);
    const worst = (k, fold) => stages.filter(s => T.stages.steps[s])
        .reduce((a, s) => fold(a, T.stages[k][s]), 0);
    const calls = rows.reduce((a, r) => a + r.calls, 0);
    const device = rows.reduce((a, r) => a + r.device, 0);
    const costs = T.runs.all.map(r => T.runs.scope_cost_ns[r]).filter(Boolean);
    const cost = calls * costs.reduce((a, c) => a + c, 0) / costs.length;
    const [all, each] = recorded();
    const list = [['recorded', time(each)],
        [runs.size > 1 ? 'ranks' : 'rank', runs.size > 1 ? count(runs.size)
            : T.runs.n > 1 && T.runs.rank[1] >= 0 ? T.runs.rank[1] : 'alone'],
        steps && ['steps', count(steps)],
        steps && ['median step', time(worst('p50', Math.max))],
        steps && ['slowest step', time(worst('max', Math.max))],
        ['actions', count(rows.filter(r => r.calls || r.deviceCalls).length)],
        ['executions', count(calls)],
        device && ['on devices', time(device)],
        T.events.n && ['single events', count(T.events.n)],
        cost && ['gnomon itself, about', time(cost) + ', ' + percent(cost / all)],
        ['not recorded', T.losses.n ? plural(T.losses.n, 'kind') : 'nothing']];
    $('figures').replaceChildren(...list.filter(Boolean).map(([k, v]) =>
        h('div', {'data-figure': k}, h('dt', null, k), h('dd', null, String(v)))));
}

function choices() {
    const stages = [...new Set(Array.from(T.stages.name).slice(1).map(t => texts[t]))];
    const select = (label, key, options) => {
        if (options.length < 3 && key !== 'view' || options.length < 2) return null;
        return h('label', null, label + ' ', h('select', {id: key, onchange: e => {
            state[key] = key === 'view' ? +e.target.value : e.target.value;
            redraw();
        }}, options.map(([v, t]) => h('option', {value: v,
            selected: String(state[key]) === String(v) || null}, t))));
    };
    const ranks = [];
    for (const r of T.runs.all) ranks.push([r, runName(r)]);
    const views = [];
    const self = new Float64Array(T.views.n);
    for (let i = 1; i < T.nodes.n; i++) self[T.nodes.view[i]] += T.nodes.self[i];
    for (const v of T.views.all) {
        views.push([v, texts[T.views.words[v]] || 'all marks']);
        if (!state.view || self[v] > self[state.view]) state.view = v;
    }
    const search = h('input', {type: 'search', id: 'search', placeholder: 'Search names',
        'aria-label': 'Search names', oninput: e => {
            state.words = e.target.value;
            for (const s of sections) if (s.find) s.find();
        }});
    $('choice').append(...[select('Stage', 'stage', [['*', 'all'], ...stages.map(s =>
        [s, s || '(no name)'])]), select('Rank', 'rank', [['*', 'all'], ...ranks]),
    select('View', 'view', views), search].filter(Boolean));
    $('choice').addEventListener('submit', e => e.preventDefault());
}

// ---- Actions: the table, and the chosen row ----------------------------------------------

function actions() {
    const s = section('actions', 'Actions');
    const detail = h('div', {class: 'chosen', id: 'chosen', 'aria-live': 'polite'});
    const tools = h('div', {class: 'tools'}, h('span', {class: 'count', id: 'actions-count'}));
    let table = null;
    s.draw = () => {
        const [whole] = recorded();
        const seen = rows.filter(r => r.calls || r.deviceCalls);
        const most = seen.reduce((a, r) => Math.max(a, r.total), 0);
        for (const r of seen) {
            const of = r.calls ? r : {};
            Object.assign(r, {count: of.calls ?? null, took: of.total ?? null,
                share: r.calls ? r.total / whole : null, mean: r.calls ? r.total / r.calls : null,
                own: r.calls && !r.isRange ? r.self : null, most: of.max ?? null,
                onDevice: r.deviceCalls ? r.device : null,
                rate: r.flops ? r.flops / (r.device || r.total) : null});
        }
        const bar = (v, r) => {
            const i = h('span', {class: 'share', 'aria-hidden': true});
            i.style.width = 3 * r.total / (most || 1) + 'rem';
            return h('span', null, i, time(v));
        };
        const has = k => seen.some(r => r[k]);
        const columns = ['name|Action|text', 'count|Calls|count',
            {id: 'took', title: 'Total', show: bar},
            'share|Share|percent|of the time recorded: scopes inside others count, too',
            'own|Self|time|in nothing marked inside it', 'mean|Mean|time', 'p50|p50|time',
            'p99|p99|time', 'most|Max|time',
            has('onDevice') && 'onDevice|Device|time|of the work that it put on devices',
            has('rate') && 'rate|GFLOP/s|real', has('category') && 'category|Category|text',
            has('place') && 'place|Place|text'].filter(Boolean);
        if (!table || table.columns.length !== columns.length) {
            if (table) table.element.remove();
            table = new Table('Actions', columns, {sort: 'took', onpick: r => {
                state.row = r;
                choose();
            }, onshown: (n, of) => {
                $('actions-count').textContent = n === of ? plural(n, 'action')
                    : count(n) + ' of ' + plural(of, 'action');
            }});
            s.element.append(tools, table.element, detail);
        }
        table.set(seen);
        s.say(seen.length ? 'Choose a row to see how its times are spread, and who calls it.'
            : 'No scope ended in what is chosen.');
        if (!state.row || !state.row.nodes.length) state.row = seen.reduce((a, r) =>
            !a || r.total > a.total ? r : a, null);
        table.at = table.shown.indexOf(state.row);
        table.draw(true);
        choose();
    };
    s.find = () => { table.find(state.words); };
    sections.push(s);
    function choose() {
        const r = state.row;
        detail.replaceChildren(...r ? [histogram(r), around(r)] : []);
        for (const x of sections) if (x.choose) x.choose();
    }
}

function histogram(r) {
    const cells = cellsOf(r);
    const title = h('h3', {id: 'chosen-name'}, r.name || '(no name)');
    if (!cells.length) return h('div', null, title, h('p', {class: 'note'},
        'It has no times of its own.'));
    // Four bars to the octave, or each cell where there are few.
    const by = cells[cells.length - 1][0] - cells[0][0] > 120 ? 4 : 1;
    const bars = new Map();
    for (const [c, n] of cells) {
        const k = Math.floor(c / by);
        bars.set(k, (bars.get(k) || 0) + n);
    }
    let first = Math.min(...bars.keys()), last = Math.max(...bars.keys()) + 1;
    while (last - first < 14) { first = Math.max(0, first - 1); last++; }
    const most = Math.max(...bars.values()), W = 640, H = 150, x = k =>
        (k - first) / (last - first) * W;
    const where = ns => { // of a duration, in cells
        let c = 0;
        while (c < 975 && low(c + 1) <= ns) c++;
        return x((c + (ns - low(c)) / (low(c + 1) - low(c))) / by);
    };
    const svg = g('svg', {viewBox: `-4 -16 ${W + 8} ${H + 36}`, role: 'img',
        'aria-label': 'Histogram of ' + r.name});
    for (const [k, n] of bars)
        svg.append(g('rect', {class: 'data', x: x(k), y: H - Math.max(1, n / most * H),
            width: Math.max(1, x(k + 1) - x(k) - 1), height: Math.max(1, n / most * H)},
        g('title', null, time(low(k * by)) + ' to ' + time(low((k + 1) * by)) + ': ' +
            count(n))));
    svg.append(g('path', {class: 'axis', d: `M0 ${H}H${W}`}));
    let right = -100;
    for (let k = first; k <= last; k += Math.max(1, Math.ceil((last - first) / 6)))
        svg.append(g('text', {x: x(k), y: H + 15}, time(low(k * by))));
    for (const q of ['p50', 'p90', 'p99']) {
        if (r[q] === null || r[q] === undefined) continue;
        const at = where(r[q]);
        svg.append(g('path', {class: 'median', d: `M${at} 0V${H}`}));
        if (at - right > 26) svg.append(g('text', {x: at + 3, y: -5}, q));
        if (at - right > 26) right = at;
    }
    return h('figure', {id: 'histogram'}, title, svg, h('figcaption', null,
        plural(r.calls || r.deviceCalls, 'execution') + (r.calls ? ', ' + time(r.min) + ' to ' +
        time(r.max) : '') + '. p50 ' + time(r.p50) + ', p90 ' + time(r.p90) + ', p99 ' +
        time(r.p99) + '. Each bar is ' + (by === 4 ? 'a fourth' : 'a sixteenth') +
        ' of a doubling.'));
}

function around(r) {
    const N = T.nodes, above = new Map(), below = new Map();
    const add = (to, region, ns) => {
        const k = region ? rowOf[region] : -1;
        to.set(k, (to.get(k) || 0) + ns);
    };
    for (const n of r.nodes) add(above, N.region[N.parent[n]], N.total[n]);
    const mine = new Set(r.nodes);
    if (r.nodes.length) for (let i = 1; i < N.n; i++)
        if (inView[i] && N.total[i] && mine.has(N.parent[i])) add(below, N.region[i], N.total[i]);
    const list = (title, map, none) => [h('h3', null, title), map.size ? h('ul', null,
        [...map].sort((a, b) => b[1] - a[1]).slice(0, 6).map(([k, ns]) => h('li', null,
            h('span', null, k < 0 ? 'nothing: outermost' : rows[k].name),
            h('span', null, time(ns))))) : h('p', {class: 'note'}, none)];
    return h('div', null, list('Inside of', above, 'Nothing.'),
        list('Around', below, 'Nothing marked runs inside it.'),
        r.place ? h('p', {class: 'note'}, h('code', null, r.place)) : null);
}

// ---- The call tree, as an icicle ----------------------------------------------------------

function icicle() {
    const s = section('tree', 'Call tree',
        'Width is time, what ran inside is below; all threads and ranks together.');
    const status = h('figcaption', {'aria-live': 'polite', id: 'tree-status'});
    const boxes = h('div', {class: 'boxes', id: 'icicle', tabindex: 0, role: 'tree',
        'aria-label': 'Call tree', onkeydown: e => key(e)});
    const button = (id, text) => h('button', {type: 'button', id: 'by-' + id,
        onclick: () => { by = id; s.draw(); }}, text);
    const tools = h('div', {class: 'tools'}, button('host', 'Time'),
        button('device', 'Device time'), h('button', {type: 'button', id: 'tree-out',
            onclick: () => { root = tree.parent[root]; at = root; show(); }}, 'Zoom out'));
    s.element.append(tools, h('figure', null, boxes, status));
    let by = 'host', tree = null, root = 0, at = 0;
    // One node for each path of rows, whatever its thread, rank and stage.
    function build() {
        const N = T.nodes, known = new Map(), to = new Int32Array(N.n);
        const t = {parent: [0], row: [-1], value: [0], calls: [0], kids: [[]]};
        const hasTracks = Array.from(inView).some((v, i) => v && N.isHost[i] &&
            isDevice(N.track[i]));
        for (let i = 1; i < N.n; i++) {
            if (!inView[i] || N.flags[i] & 2 && by === 'host') continue;
            const onDevice = isDevice(N.track[i]);
            if (by === 'host' ? onDevice : hasTracks && !onDevice) continue;
            const p = to[N.parent[i]], key = p * rows.length + rowOf[N.region[i]];
            let k = known.get(key);
            if (k === undefined) {
                known.set(key, k = t.row.length);
                t.parent.push(p);
                t.row.push(rowOf[N.region[i]]);
                t.value.push(0);
                t.calls.push(0);
                t.kids.push([]);
                t.kids[p].push(k);
            }
            to[i] = k;
            const isHost = by === 'host' || hasTracks;
            t.value[k] += isHost ? N.total[i] : N.device[i];
            t.calls[k] += isHost ? N.calls[i] : N.deviceCalls[i];
        }
        for (let k = t.row.length - 1; k > 0; k--) { // children have larger numbers
            const inside = t.kids[k].reduce((a, c) => a + t.value[c], 0);
            t.value[k] = Math.max(t.value[k], inside);
            t.kids[k].sort((a, b) => t.value[b] - t.value[a]);
        }
        t.value[0] = t.kids[0].reduce((a, c) => a + t.value[c], 0);
        t.kids[0].sort((a, b) => t.value[b] - t.value[a]);
        return t;
    }
    const title = k => k ? rows[tree.row[k]].name || '(no name)' : 'all';
    function show() {
        const wide = boxes.clientWidth || 900, least = 2 / wide, words =
            state.words.toLowerCase();
        const list = [{node: root, x: 0, width: 1, level: 0}], drawn = [];
        let deepest = 0;
        for (let i = 0; i < list.length && drawn.length < MOST_BOXES; i++) {
            const b = list[i];
            deepest = Math.max(deepest, b.level);
            drawn.push({...b, y: b.level * 21, text: b.many ? '…' : title(b.node),
                role: 'treeitem', chosen: b.node === at && !b.many,
                found: words && !b.many && title(b.node).toLowerCase().includes(words),
                title: b.many ? plural(b.many, 'path') + ' more' : title(b.node) + ', ' +
                    time(tree.value[b.node])});
            if (b.many || b.level > 30) continue;
            let x = b.x, few = 0, rest = 0;
            for (const c of tree.kids[b.node]) {
                const width = b.width * tree.value[c] / (tree.value[b.node] || 1);
                if (width < least) { few++; rest += width; continue; }
                list.push({node: c, x, width, level: b.level + 1});
                x += width;
            }
            if (few && rest >= least)
                list.push({node: b.node, many: few, x, width: rest, level: b.level + 1});
        }
        boxes.style.height = (deepest + 1) * 21 + 'px';
        boxes.replaceChildren(...drawn.map(b => box({...b, level: b.level + 1},
            (x, twice) => { if (!b.many) go(b.node, twice || at === b.node); })));
        $('tree-out').disabled = !root;
        const path = [];
        for (let k = at; k; k = tree.parent[k]) path.unshift(title(k));
        status.textContent = (path.join(' › ') || 'all') + ': ' + time(tree.value[at]) +
            (tree.value[root] ? ', ' + percent(tree.value[at] / tree.value[0]) : '') +
            (at ? ', ' + plural(tree.calls[at], 'call') : '');
    }
    function go(k, zoom) {
        at = k;
        if (zoom) root = k;
        if (k) state.row = rows[tree.row[k]];
        show();
    }
    function key(e) {
        const kids = tree.kids[at], kin = tree.kids[tree.parent[at]];
        const isTop = at === root, next = d => kin[kin.indexOf(at) + d] || at;
        const to = {ArrowDown: kids[0] || at, ArrowUp: isTop ? at : tree.parent[at],
            ArrowRight: isTop ? at : next(1), ArrowLeft: isTop ? at : next(-1)}[e.key];
        if (to !== undefined) go(to);
        else if (e.key === 'Enter' || e.key === '+') go(at, true);
        else if (e.key === 'Escape' || e.key === '-') go(tree.parent[root], true);
        else return;
        e.preventDefault();
    }
    s.draw = () => {
        const has = rows.some(r => r.deviceCalls) || Array.from(T.tracks.device).some((d, i) =>
            i && isDevice(i));
        for (const id of ['host', 'device'])
            $('by-' + id).setAttribute('aria-pressed', by === id);
        $('by-device').disabled = !has;
        $('by-device').title = has ? '' : 'none in this profile: GNOMON=cupti records it';
        tree = build();
        root = at = 0;
        show();
        if (tree.row.length === 1) status.textContent = 'Nothing ended in what is chosen.';
    };
    s.find = show;
    s.resize = show;
    sections.push(s);
}

// ---- Advice --------------------------------------------------------------------------------

// It is of the whole job, whatever is chosen.
function advice() {
    const s = section('advice', 'Advice'), A = T.advice;
    const of = (name, text) => text && [h('dt', null, name), h('dd', null, text)];
    s.element.append(h('ol', null, Array.from({length: A.n}, (_, i) => h('li', null,
        h('strong', null, texts[A.finding[i]]), A.gain[i] ? ': up to ' + time(A.gain[i]) +
        ' to be gained' : '', h('dl', null, of('from', texts[A.from[i]]),
            of('threshold', texts[A.threshold[i]]), of('try', texts[A.tries[i]]),
            of('not sure', texts[A.unsure[i]]))))));
    s.say(A.n ? 'What may make it faster, those first by which most is gained.'
        : 'Nothing found.');
    s.draw = () => {};
    sections.push(s);
}

// ---- Steps ---------------------------------------------------------------------------------

function chosenSteps() {
    const S = T.steps, list = [];
    for (let i = 1; i < S.n; i++)
        if (S.end[i] && stageIsIn(S.stage[i])) list.push(i);
    return list.sort((a, b) => S.begin[a] - S.begin[b]);
}
const took = i => T.steps.end[i] - T.steps.begin[i];
function medianStep(list) {
    const of = list.map(took).sort((a, b) => a - b);
    const stages = [];
    for (let i = 1; i < T.stages.n; i++) if (stageIsIn(i) && T.stages.steps[i]) stages.push(i);
    return stages.length === 1 && T.stages.p50[stages[0]] || of[of.length >> 1] ||
        Math.max(0, ...stages.map(i => T.stages.p50[i]));
}
const stepName = i => 'step ' + count(T.steps.number[i]) + (T.runs.all.length > 1
    ? ', ' + runName(T.stages.run[T.steps.stage[i]]) : '');

// Bins of all chosen strips for which `is` holds, step by step, by the name of their stage:
// [{name, width, bins: [{count, min, max, sum}], slow: [{at, number, ns, run}]}].
function strips(is) {
    const S = T.strips, B = T.bins, by = new Map(), of = [];
    const add = (to, i, b) => {
        const x = to[i] || (to[i] = {count: 0, min: Infinity, max: -Infinity, sum: 0});
        x.count += b.count;
        x.sum += b.sum;
        x.min = Math.min(x.min, b.min);
        x.max = Math.max(x.max, b.max);
    };
    for (let i = 1; i < S.n; i++) if (is(i) && stageIsIn(S.stage[i]) &&
        (state.rank === '*' || T.stages.run[S.stage[i]] === +state.rank)) {
        const name = texts[T.stages.name[S.stage[i]]];
        if (!by.has(name)) by.set(name, {name, width: 1, bins: [], slow: []});
        const to = of[i] = by.get(name);
        if (to.width < S.width[i]) {
            const old = to.bins, times = S.width[i] / to.width;
            to.bins = [];
            old.forEach((b, k) => add(to.bins, Math.floor(k / times), b));
            to.width = S.width[i];
        }
    }
    const at = new Float64Array(S.n);
    for (let k = 0; k < B.n; k++) {
        const i = B.strip[k], to = of[i], place = at[i]++;
        if (to && B.count[k]) add(to.bins, Math.floor(place * S.width[i] / to.width),
            {count: B.count[k], min: B.min[k], max: B.max[k], sum: B.sum[k]});
    }
    for (let k = 0; k < T.slow.n; k++) {
        const i = T.slow.strip[k];
        if (of[i]) of[i].slow.push({at: T.slow.at[k], number: T.slow.number[k],
            ns: T.slow.ns[k], run: T.stages.run[S.stage[i]]});
    }
    return [...by.values()].filter(x => x.bins.length);
}

// Each bin of the strips, or a few of them, as a bar; the step that is the slowest in it, if
// the profile has it by itself.
function barsOf(all, list) {
    const per = Math.ceil(all.reduce((a, x) => a + x.bins.length, 0) / MOST_BARS), bars = [];
    for (const x of all) for (let i = 0; i < x.bins.length; i += per) {
        const some = x.bins.slice(i, i + per).filter(Boolean);
        if (!some.length) continue;
        const from = i * x.width, until = Math.min(x.bins.length, i + per) * x.width;
        const most = Math.max(...some.map(b => b.max));
        const slow = x.slow.find(k => k.at >= from && k.at < until && k.ns === most);
        const n = some.reduce((a, b) => a + b.count, 0);
        const step = list.find(k => Math.abs(took(k) - most) < 2 && (!slow ||
            T.steps.number[k] === slow.number));
        const what = slow ? 'step ' + count(slow.number) + (T.runs.all.length > 1
            ? ', ' + runName(slow.run) : '') : n === 1 ? 'step ' + count(from + 1) + ' of all'
            : 'steps ' + count(from + 1) + ' to ' + count(until) + ' of all';
        bars.push({step: step || 0, took: most, name: (x.name && all.length > 1 ? x.name + ': '
            : '') + what, more: n > 1 ? ', the slowest of ' + count(n) + ' of which the mean is ' +
            time(some.reduce((a, b) => a + b.sum, 0) / n) : ''});
    }
    return bars;
}

function steps() {
    const s = section('steps', 'Steps');
    const strip = h('div', {class: 'strip', id: 'strip', tabindex: 0, role: 'listbox',
        'aria-label': 'Steps in the order of time', onkeydown: e => key(e)});
    const caption = h('figcaption', {id: 'strip-status', 'aria-live': 'polite'});
    const figure = h('figure', null, strip, caption);
    const slow = new Table('Slow steps', ['name|Step|text', 'took|Took|time',
        'more|Above median|time', 'why|What was longer in it|text'],
    {wrap: true, sort: 'took', onpick: r => pick(r.step)});
    const why = h('p', {class: 'note', id: 'why'});
    s.element.append(figure, h('h3', null, 'Slow steps'), why, slow.element);
    let bars = [], median = 0, at = -1; // the chosen bar
    // Of what was longer, the innermost: a scope is left out where one inside it is in
    // the list with most of its excess.
    function reasons(step) {
        const X = T.stepTimes, usual = new Map(), list = [];
        for (let i = 0; i < X.n; i++)
            if (!X.step[i] && X.stage[i] === T.steps.stage[step])
                usual.set(X.region[i], X.usual[i]);
        for (let i = 0; i < X.n; i++)
            if (X.step[i] === step && X.region[i]) {
                const more = X.total[i] - (usual.get(X.region[i]) || 0);
                if (more > took(step) * 0.02) list.push({region: X.region[i], more,
                    usual: usual.get(X.region[i]) || 0, own: X.own_ns[i] || !X.calls[i]});
            }
        list.sort((a, b) => (b.own > 0) - (a.own > 0) || b.more - a.more);
        return list.filter(a => !list.some(b => a !== b && b.more >= 0.8 * a.more &&
            isInside(b.region, a.region))).slice(0, 3)
            .map(a => name(a.region) + ' +' + time(a.more) + (a.usual
                ? ' (usually ' + time(a.usual) + ')' : ' (not in the median step)'));
    }
    function isInside(region, outer) {
        const N = T.nodes;
        if (region === outer) return false;
        for (const n of rows[rowOf[region]].nodes)
            for (let p = N.parent[n]; p; p = N.parent[p])
                if (rowOf[N.region[p]] === rowOf[outer]) return true;
        return false;
    }
    s.draw = () => {
        const list = chosenSteps(), all = strips(i => !T.strips.region[i] &&
            !T.strips.track[i]);
        median = medianStep(list);
        bars = all.length ? barsOf(all, list) : list.map(b => ({step: b, took: took(b),
            name: stepName(b), more: ''}));
        const most = Math.max(...bars.map(b => b.took), 1);
        const line = h('hr', {'aria-hidden': true});
        line.style.bottom = median / most * 92 + 'px';
        strip.replaceChildren(...bars.map((b, k) => {
            const is = b.took > SLOW * median;
            const e = h('i', {class: is ? 'slow' : null, role: 'option', 'aria-label':
                b.name + ' ' + time(b.took) + b.more + (is ? ', slow' : ''), title: b.name +
                ': ' + time(b.took) + b.more, 'aria-selected': k === at,
            onclick: () => look(k)});
            e.style.height = Math.max(1, b.took / most * 92) + 'px';
            return e;
        }), ...bars.length ? [line] : []);
        figure.hidden = !bars.length;
        let made = 0;
        for (let i = 1; i < T.stages.n; i++) if (stageIsIn(i)) made += T.stages.steps[i];
        s.note.replaceChildren(...bars.length ? ['The dashed line is the median, ' +
            time(median) + '. ▲ marks steps longer than ' + SLOW + ' times that.' + (made >
            bars.length ? ' Each bar is the slowest of some of ' + plural(made, 'step') + '.'
            : '')] : made ? lacks('Single steps are not in this profile',
            'steps,file=run.gnomon') : ['No step ended: a program says gnomon_step() after each.']);
        const slowest = list.slice().sort((a, b) => took(b) - took(a)).slice(0, 16)
            .filter(i => took(i) > SLOW * median);
        const has = T.stepTimes.n > 0;
        slow.set(slowest.map(i => ({step: i, name: stepName(i), took: took(i), more: took(i) -
            median, why: has ? reasons(i).join('; ') || (Array.from(T.stepTimes.step).includes(i)
            ? 'nothing marked: time outside of marks' : 'not kept of this step') : ''})));
        slow.element.hidden = !slowest.length;
        why.replaceChildren(...!list.length ? [] : !slowest.length ? ['No step took more than ' +
            SLOW + ' times the median.'] : has ? [] : lacks('What was longer in them is not in ' +
            'this profile', 'steps,file=run.gnomon'));
        if (!list.includes(state.step)) state.step = slowest[0] || list[list.length - 1] || 0;
        at = bars.findIndex(b => b.step && b.step === state.step);
        say();
    };
    function say() {
        const i = state.step, b = at >= 0 ? bars[at] : i && {name: stepName(i), took: took(i),
            more: ''};
        caption.textContent = b ? b.name + ': ' + time(b.took) + (median ? ', ' +
            (b.took / median).toFixed(2) + ' × the median' : '') + b.more : '';
        [...strip.children].forEach((e, k) => {
            if (e.tagName === 'I') e.setAttribute('aria-selected', k === at);
        });
    }
    function pick(i) {
        state.step = i;
        at = bars.findIndex(b => b.step === i);
        say();
        for (const x of sections) if (x.step) x.step();
    }
    function look(k) {
        if (bars[k].step) pick(bars[k].step);
        at = k;
        say();
    }
    function key(e) {
        const to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0,
            End: bars.length - 1}[e.key];
        if (to === undefined || !bars[to]) return;
        e.preventDefault();
        look(to);
    }
    sections.push(s);
}

// ---- The timeline of a step ----------------------------------------------------------------

function timeline() {
    const s = section('timeline', 'Timeline');
    const boxes = h('div', {class: 'boxes', id: 'lanes', tabindex: 0, role: 'group',
        'aria-label': 'Timeline', onkeydown: e => key(e)});
    const status = h('figcaption', {id: 'timeline-status', 'aria-live': 'polite'});
    const act = (id, text, f) => h('button', {type: 'button', id, onclick: f}, text);
    const tools = h('div', {class: 'tools'}, act('in', 'Zoom in', () => zoom(0.5)),
        act('out', 'Zoom out', () => zoom(2)), act('left', '←', () => pan(-0.25)),
        act('right', '→', () => pan(0.25)), act('whole', 'All', () => look(first, last)));
    s.element.append(tools, h('figure', null, boxes, status));
    const E = T.events, tracks = new Map(); // by track: {events, depth, levels}
    let first = Infinity, last = 0, from = 0, until = 1;
    for (let i = 0; i < E.n; i++) {
        if (!tracks.has(E.track[i])) tracks.set(E.track[i], {events: [], levels: 1});
        tracks.get(E.track[i]).events.push(i);
        first = Math.min(first, E.begin[i]);
        last = Math.max(last, E.begin[i] + E.took[i]);
    }
    const depth = new Uint16Array(E.n);
    for (const t of tracks.values()) {
        const open = [];
        for (const i of t.events) {
            while (open.length && open[open.length - 1] <= E.begin[i]) open.pop();
            depth[i] = Math.min(open.length, 15);
            open.push(E.begin[i] + E.took[i]);
            t.levels = Math.max(t.levels, depth[i] + 1);
        }
    }
    // Boxes narrower than `least` that follow one another are one. O(events).
    function collect(least) {
        const list = [], span = until - from;
        let y = 18;
        for (const [t, of] of tracks) {
            if (!trackIsIn(t)) continue;
            const ends = new Float64Array(of.levels).fill(-1);
            const many = new Array(of.levels).fill(null);
            const at = list.length;
            for (const i of of.events) {
                const b = E.begin[i], e = b + E.took[i];
                if (b >= until) break;
                if (e <= from && !(b >= from)) continue;
                const x = Math.max(0, (b - from) / span), end = Math.min(1, (e - from) / span);
                const k = depth[i];
                if (end - x < least) {
                    if (many[k] && x - ends[k] < least) {
                        many[k].width = Math.max(least, end - many[k].x);
                        many[k].many++;
                    } else {
                        list.push(many[k] = {x, width: least, k, i, many: 1});
                    }
                } else {
                    list.push({x, width: end - x, k, i});
                    many[k] = null;
                }
                ends[k] = end;
                if (list.length > MOST_BOXES && least < 0.1) return {list, y};
            }
            for (let j = at; j < list.length; j++) list[j].y = y + 18 + list[j].k * 21;
            list.push({label: trackName(t), y});
            y += 18 + of.levels * 21 + 8;
        }
        return {list, y};
    }
    function show() {
        let least = 2 / (boxes.clientWidth || 900), got = collect(least);
        while (got.list.length > MOST_BOXES && least < 0.1) got = collect(least *= 2);
        boxes.style.height = Math.min(got.y, 3000) + 'px';
        const words = state.words.toLowerCase(), ticks = [];
        for (let k = 0; k < 5; k++) {
            const u = h('u', {'aria-hidden': true}, k ? '+' + time((until - from) * k / 5)
                : time(from - first));
            u.style.left = k * 20 + '%';
            ticks.push(u);
        }
        boxes.replaceChildren(...ticks, ...got.list.slice(0, MOST_BOXES).map(b => {
            if (b.label !== undefined) {
                const e = h('em', null, b.label);
                e.style.top = b.y + 'px';
                return e;
            }
            const text = name(T.nodes.region[E.node[b.i]]);
            return box({...b, many: b.many > 1 && b.many, text, found: words &&
                text.toLowerCase().includes(words), title: b.many > 1 ? count(b.many) +
                ' short ones' : text + ', ' + time(E.took[b.i])}, () => {
                status.textContent = b.many > 1 ? count(b.many) + ' executions, too short to ' +
                    'draw: zoom in' : text + ': ' + time(E.took[b.i]) + ', at ' +
                    time(E.begin[b.i] - first) + ', on ' + trackName(E.track[b.i]);
            });
        }));
    }
    function look(a, b) {
        const span = Math.max(b - a, 100);
        from = a;
        until = a + span;
        status.textContent = 'From ' + time(from - first) + ', ' + time(span) + ' long';
        show();
    }
    function zoom(by) {
        const middle = (from + until) / 2, half = (until - from) / 2 * by;
        look(Math.max(first, middle - half), Math.min(last, middle + half));
    }
    function pan(by) {
        const d = (until - from) * by;
        if (from + d < last && until + d > first) look(from + d, until + d);
    }
    function key(e) {
        const f = {'+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2),
            ArrowLeft: () => pan(-0.25), ArrowRight: () => pan(0.25),
            Home: () => look(first, last)}[e.key];
        if (!f) return;
        e.preventDefault();
        f();
    }
    s.step = () => {
        if (!E.n) return;
        const i = state.step, b = i && T.steps.begin[i], e = i && T.steps.end[i];
        const isIn = i && b < last && e > first;
        s.say(!i ? 'All that was recorded one by one.' : isIn ? 'Of ' + stepName(i) +
            '. Choose another step above; + and − zoom, arrows move.' : 'No event of ' +
            stepName(i) + ' is in this profile; here is what is.');
        look(isIn ? Math.max(first, b) : first, isIn ? Math.min(last, e) : last);
    };
    s.draw = () => {
        tools.hidden = boxes.hidden = !E.n;
        if (!E.n) s.note.replaceChildren(...lacks('Single executions are not in this profile',
            'trace,file=run.gnomon'));
        else s.step();
    };
    s.find = s.resize = () => E.n && show();
    sections.push(s);
}

// ---- Ranks, links, counters, memory, losses ------------------------------------------------

function ranks() {
    const s = section('ranks', 'Ranks');
    const table = new Table('Ranks', ['name|Rank|text', 'host|Host|text',
        'recorded|Recorded|time', 'steps|Steps|count', 'p50|Median step|time',
        'max|Slowest step|time', 'row|Chosen action|time']);
    s.element.append(table.element);
    s.draw = s.choose = () => {
        table.element.hidden = T.runs.all.length < 2;
        if (T.runs.all.length < 2) {
            s.say('One process recorded this. Give the profiles of all ranks to compare them.');
            return;
        }
        const of = [];
        for (let r = 0; r < T.runs.n; r++)
            of.push({name: runName(r), host: texts[T.runs.host[r]], recorded: 0,
                 steps: 0, p50: 0, max: 0, row: 0});
        for (let i = 1; i < T.stages.n; i++)
            if (state.stage === '*' || texts[T.stages.name[i]] === state.stage) {
                const x = of[T.stages.run[i]];
                x.recorded += T.stages.recorded[i];
                x.steps = x.steps + T.stages.steps[i] || null;
                x.p50 = Math.max(x.p50, T.stages.p50[i]) || null;
                x.max = Math.max(x.max, T.stages.max[i]) || null;
            }
        if (state.row) for (const n of state.row.nodes)
            of[T.tracks.run[T.nodes.track[n]]].row += T.nodes.total[n];
        s.say(state.row ? 'The last column is ' + state.row.name + ', the action chosen above.'
            : '');
        table.set(T.runs.all.map(r => of[r]));
    };
    sections.push(s);
}

function links() {
    const s = section('links', 'Links', 'What caused what: submitted work, launches, waits.');
    const kinds = ['submit', 'backward', 'launch'];
    const table = new Table('Links', ['from|From|text', 'to|To|text', 'kind|Kind|text',
        'count|Count|count'], {sort: 'count'});
    s.element.append(table.element);
    s.draw = () => {
        const L = T.links, known = new Map();
        for (let i = 0; i < L.n; i++) {
            if (!inView[L.from[i]] && !inView[L.to[i]]) continue;
            const a = rowOf[T.nodes.region[L.from[i]]], b = rowOf[T.nodes.region[L.to[i]]];
            const key = (a * rows.length + b) * 16 + L.kind[i];
            if (!known.has(key)) known.set(key, {from: rows[a].name, to: rows[b].name,
                kind: kinds[L.kind[i]] || 'kind ' + L.kind[i], count: 0});
            known.get(key).count += L.count[i];
        }
        table.element.hidden = !known.size;
        if (!known.size) s.say('No link is in what is chosen: programs make them by ' +
            'gnomon_link_out, adapters where work is submitted.');
        table.set([...known.values()]);
    };
    s.find = () => table.find(state.words);
    sections.push(s);
}

// A line of values: least and most of each column, as a band, and their mean. A column is
// {count, min, max, sum}, or nothing.
function chart(columns, label, show, end, about) {
    const W = 640, H = 120, there = [];
    let least = Infinity, most = -Infinity;
    columns.forEach((b, k) => {
        if (!b || !isFinite(b.sum)) return;
        least = Math.min(least, b.min);
        most = Math.max(most, b.max);
        there.push([k / Math.max(1, columns.length - 1) * W, b]);
    });
    const y = v => H - (v - least) / ((most - least) || 1) * H;
    const band = there.map(([x, b]) => `${x} ${y(b.max)}`).concat(there.slice().reverse()
        .map(([x, b]) => `${x} ${y(b.min)}`)).join('L');
    return h('figure', {class: 'lines'}, there.length ? g('svg', {viewBox:
        `-4 -14 ${W + 8} ${H + 34}`, role: 'img', 'aria-label': label},
    g('path', {class: 'band', d: 'M' + band + 'Z'}),
    g('path', {class: 'line', d: 'M' + there.map(([x, b]) => `${x} ${y(b.sum / b.count)}`)
        .join('L')}), g('path', {class: 'axis', d: `M0 ${H}H${W}`}),
    g('text', {x: 0, y: -4}, show(most)), g('text', {x: 0, y: H + 14}, show(least)),
    g('text', {x: W, y: H + 14, 'text-anchor': 'end'}, end)) : null,
    h('figcaption', null, label + ': ' + about));
}

// Of values over time: [moment, value].
function lines(points, label, show) {
    const bins = 320, from = points[0][0], of = new Array(bins).fill(null);
    const span = Math.max(1, points[points.length - 1][0] - from);
    for (const [t, v] of points) {
        if (!isFinite(v)) continue;
        const k = Math.min(bins - 1, Math.floor((t - from) / span * bins));
        const b = of[k] || (of[k] = {count: 0, min: v, max: v, sum: 0});
        b.count++;
        b.sum += v;
        b.min = Math.min(b.min, v);
        b.max = Math.max(b.max, v);
    }
    return chart(of, label, show, time(span), plural(points.length, 'sample'));
}

// Of values over steps.
const stripLines = (all, label, show) => all.map(x => chart(x.bins, label + (all.length > 1 &&
    x.name ? ', ' + x.name : ''), show, plural(x.bins.length * x.width, 'step'), plural(
    x.bins.reduce((a, b) => a + b.count, 0), 'sample') + ' in ' + plural(x.bins.length, 'bin') +
    ' of ' + plural(x.width, 'step')));

function counters() {
    const s = section('counters', 'Counters');
    const place = h('div', {id: 'counter'});
    const table = new Table('Counters', ['name|Counter|text', 'count|Samples|count',
        'last|Last|real', 'min|Min|real', 'mean|Mean|real', 'max|Max|real',
        'nans|No number|count'], {sort: 'count', onpick: draw});
    s.element.append(table.element, place);
    function draw(r) {
        const points = [], of = strips(i => T.strips.region[i] &&
            rowOf[T.strips.region[i]] === r.at);
        for (let i = 0; i < T.samples.n; i++)
            if (trackIsIn(T.samples.track[i]) && rowOf[T.samples.region[i]] === r.at)
                points.push([T.samples.begin[i], T.samples.value[i]]);
        points.sort((a, b) => a[0] - b[0]);
        place.replaceChildren(...stripLines(of, r.name, real), ...points.length
            ? [lines(points, r.name, real)] : of.length ? [] : [h('p', {class: 'note'}, lacks(
                'There are no steps to draw it by, and single samples are not in this profile',
                'trace,file=run.gnomon'))]);
    }
    s.draw = () => {
        const C = T.counters, known = new Map();
        for (let i = 0; i < C.n; i++) {
            if (!stageIsIn(C.stage[i]) || !trackIsIn(C.track[i])) continue;
            const at = rowOf[C.region[i]];
            const r = known.get(at) || {at, name: rows[at].name, count: 0, nans: null, sum: 0,
                min: Infinity, max: -Infinity, last: 0};
            known.set(at, r);
            r.count += C.count[i];
            r.nans = r.nans + C.nans[i] || null;
            r.sum += C.sum[i];
            r.mean = r.sum / r.count;
            r.last = C.last[i];
            r.min = Math.min(r.min, C.min[i]);
            r.max = Math.max(r.max, C.max[i]);
        }
        table.element.hidden = place.hidden = !known.size;
        s.say(known.size ? '' : 'No counter was sampled in what is chosen: programs do so by ' +
            'gnomon_counter.');
        table.set([...known.values()]);
        if (known.size) table.pick(0);
    };
    s.find = () => table.find(state.words);
    sections.push(s);
}

function memory() {
    const s = section('memory', 'Memory');
    const place = h('div', {id: 'pools'});
    const table = new Table('Memory', ['name|Action|text', 'pool|Pool|text',
        'allocations|Allocations|count', 'allocated|Allocated|size', 'freed|Freed|size',
        'kept|Net|size', 'atPeak|Held at peak|size', 'held|Held at end|size'],
        {sort: 'allocated'});
    s.element.append(table.element, place);
    s.draw = () => {
        const M = T.memory, known = new Map(), P = T.pools, of = new Map();
        for (let i = 0; i < M.n; i++) {
            if (!inView[M.node[i]]) continue;
            const at = rowOf[T.nodes.region[M.node[i]]], pool = trackName(M.pool[i]);
            const key = at + ' ' + pool;
            const r = known.get(key) || {name: rows[at].name, pool, allocations: 0,
                allocated: 0, freed: 0, atPeak: 0, held: 0};
            known.set(key, r);
            r.allocations += M.allocations[i];
            r.allocated += M.allocated[i];
            r.freed += M.freed[i];
            r.kept = r.allocated - r.freed;
            r.atPeak += M.at_peak[i];
            r.held += M.held[i];
        }
        for (let i = 0; i < P.n; i++) {
            if (!trackIsIn(P.pool[i])) continue;
            if (!of.has(P.pool[i])) of.set(P.pool[i], []);
            of.get(P.pool[i]).push([P.begin[i], P.value[i]]);
        }
        table.element.hidden = !known.size;
        const bins = new Map();
        for (let i = 1; i < T.strips.n; i++)
            if (T.strips.track[i] && !T.strips.region[i] && !of.has(T.strips.track[i]))
                bins.set(T.strips.track[i], strips(k => T.strips.track[k] ===
                    T.strips.track[i] && !T.strips.region[k]));
        place.replaceChildren(...[...of].slice(0, 8).map(([pool, list]) => {
            list.sort((a, b) => a[0] - b[0]);
            let live = 0;
            return lines(list.map(([t, v]) => [t, live += v]), trackName(pool), size);
        }), ...[...bins].slice(0, 8).flatMap(([pool, all]) =>
            stripLines(all, trackName(pool), size)));
        s.note.replaceChildren(...known.size || of.size || bins.size ? ['By what was open when memory was ' +
            'taken.'] : ['No memory was recorded: $GNOMON=memory does so, where allocators tell ' +
            'of theirs by gnomon_pool_allocated.']);
        table.set([...known.values()]);
    };
    s.find = () => table.find(state.words);
    sections.push(s);
}

function losses() {
    const s = section('losses', 'Not recorded');
    const L = T.losses, list = [];
    const table = new Table('Losses', ['text|What|text', 'run|Of|text',
        'count|How often|count'], {sort: 'count', wrap: true});
    for (let i = 0; i < L.n; i++)
        list.push({text: texts[L.text[i]], run: L.run[i] ? runName(L.run[i]) : '',
            count: L.count[i]});
    const open = rows.filter(r => r.open);
    s.element.append(table.element);
    table.element.hidden = !list.length;
    s.say((list.length ? 'What is missing, so that no number here is taken for all.'
        : 'Nothing was lost.') + (open.length ? ' Still open, and in no sum: ' + open.slice(0, 8)
        .map(r => r.name).join(', ') + '.' : ''));
    table.set(list);
}

// ---- A comparison -----------------------------------------------------------------------

function changes() {
    const s = section('changes', 'Changes', 'B against A. ▲ is more and ▼ less, as sure as was ' +
        'asked for; ~ may be chance.');
    const C = T.changes, list = [];
    const kinds = ['host', 'device', 'busy', 'steps', 'counter', 'memory'];
    for (let i = 0; i < C.n; i++) {
        const r = {stage: texts[C.stage[i]], name: texts[C.name[i]], kind: kinds[C.kind[i]]};
        for (const k of ['a', 'b', 'callsA', 'callsB', 'change', 'low', 'high', 'sure', 'more',
            'isSure']) r[k] = isFinite(C[k][i]) ? C[k][i] : null;
        list.push(r);
    }
    const isTime = r => r.kind !== 'counter' && r.kind !== 'memory';
    const show = (v, r) => isTime(r) ? time(v) : real(v);
    const sign = r => !r.isSure ? '~ ' : r.change > 0 ? '▲ ' : '▼ ';
    const signed = v => (v > 0 ? '+' : '') + digits(v * 100, 3) + NARROW + '%';
    const table = new Table('Changes', [
        {id: 'name', title: 'Action', get: r => r.name, text: true},
        {id: 'kind', title: 'Kind', get: r => r.kind, text: true},
        {id: 'stage', title: 'Stage', get: r => r.stage, text: true},
        {id: 'a', title: 'A', get: r => r.a, show}, {id: 'b', title: 'B', get: r => r.b, show},
        {id: 'change', title: 'Change', mark: 'change', get: r => r.change,
            show: (v, r) => sign(r) + signed(v)},
        {id: 'low', title: 'From', get: r => r.low, show: signed},
        {id: 'high', title: 'To', get: r => r.high, show: signed},
        {id: 'sure', title: 'Sure', get: r => r.sure, show: v => (Math.floor(v * 1e4) / 100)
            .toFixed(2) + NARROW + '%'},
        {id: 'more', title: 'More in all', get: r => r.more === null ? null : Math.abs(r.more),
            show: (v, r) => isTime(r) ? (r.more > 0 ? '+' : r.more < 0 ? '−' : '') + time(v) : ''}],
    {sort: 'more', mark: r => r.change === null ? 'unsure' : r.isSure
        ? r.change > 0 ? 'sure-more' : 'sure-less' : r.sure >= 0.9 ? 'maybe' : 'unsure'});
    const verdicts = ['✓ holds', '✗ fails', '? not sure'];
    s.element.append(...T.gates.n ? [h('ul', {id: 'gates', 'aria-label': 'Gates'},
        Array.from(T.gates.verdict).map((v, i) => h('li', {'data-verdict': v}, 'Gate ' +
            verdicts[v] + ': ', h('code', null, texts[T.gates.gate[i]]), ': ' +
            texts[T.gates.text[i]])))] : [], table.element);
    table.set(list);
    $('choice').append(h('input', {type: 'search', id: 'search', 'aria-label': 'Search names',
        placeholder: 'Search names', oninput: e => table.find(e.target.value)}));
    const of = sure => list.filter(r => r.isSure && Math.sign(r.change) === sure).length;
    $('about').textContent = texts[T.sides.name[0]] + ' (A) against ' + texts[T.sides.name[1]] +
        ' (B)';
    $('figures').replaceChildren(...[['jobs of A', T.sides.jobs[0]], ['jobs of B',
        T.sides.jobs[1]], ['rows', list.length], ['surely more', of(1)], ['surely less', of(-1)]]
        .map(([k, v]) => h('div', {'data-figure': k}, h('dt', null, k),
            h('dd', null, count(v)))));
}

// ---- All ----------------------------------------------------------------------------------

function redraw() {
    addUp();
    figures();
    for (const s of sections) s.draw();
}

function about() {
    const r = 1, R = T.runs, parts = [];
    if (R.n > 1) {
        const hosts = new Set(Array.from(R.host).slice(1));
        parts.push(texts[R.when[r]], hosts.size > 1 ? plural(hosts.size, 'host')
            : texts[R.host[r]], R.all.length > 1 && count(R.all.length) + ' processes');
    }
    $('about').textContent = parts.filter(Boolean).join(' · ');
    if (R.n > 1 && texts[R.spec[r]])
        $('foot').append(' Recorded under GNOMON=' + texts[R.spec[r]]);
}

function profile() {
    makeRows();
    about();
    choices();
    for (const f of [advice, steps, actions, icicle, timeline, ranks, links, counters, memory]) f();
    redraw();
    losses();
}

load().then(index => {
    const begun = performance.now();
    $('foot').textContent = 'gnomon ' + index.version + '. Nothing was loaded from elsewhere.';
    (index.kind === 'diff' ? changes : profile)();
    document.documentElement.dataset.ready = Math.round(performance.now() - begun);
    let width = innerWidth;
    addEventListener('resize', () => {
        if (width === innerWidth) return;
        width = innerWidth;
        for (const s of sections) if (s.resize) s.resize();
        for (const t of all) t.draw(true);
    });
    addEventListener('beforeprint', () => { for (const t of all) t.draw(true, true); });
    addEventListener('afterprint', () => { for (const t of all) t.draw(true); });
}, e => {
    $('about').textContent = 'The data of this page cannot be read: ' + e.message;
    throw e;
});
