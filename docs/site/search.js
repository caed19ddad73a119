/* SPDX-License-Identifier: LGPL-2.1-or-later */

// The search of the reference: over symbols, the guides and the languages' interfaces, which
// search-index.js has. It takes the place of gi-docgen's, which knows only symbols, and which
// cannot read its index from the disk.

// --- Searching. Nothing here needs a browser.

// Guides and examples have headings, and not names of symbols.
function isText(kind) {
    return /^(Guide|Example)\b/.test(kind);
}

// The fields of an entry that are searched.
function prepareEntry([name, kind, href, summary, words, short]) {
    const lower = name.toLowerCase();
    const parts = lower.split(/[^\p{L}\d]+/u).filter(part => part !== '');

    return {
        name, kind, href, summary, lower, parts,
        // Without its class: copy of mtl_strided_view_copy and of Mtl.StridedView.copy. The last
        // word of a heading is no better than the others.
        last: isText(kind) ? lower : short ? short.toLowerCase()
            : lower.replace(/[\])]+$/, '').split(/[.:\s[]+/).pop(),
        // Rarely wanted entries come after others with the same name.
        isMinor: /virtual method|constant$/.test(kind),
        isGuide: isText(kind),
        isWholeGuide: kind === 'Guide',
        text: ` ${words} ${summary.toLowerCase()}`,
    };
}

const LEAST_FOR_NAME = 50;
const LESS_FOR_MINOR = 35;

// Rates how well an entry fits one word, from 0: the name itself, the end of the name, a part of
// it, words of the text, and last the letters in their order.
function rateWord(entry, word) {
    if (entry.lower === word)
        return 100;
    if (entry.last === word)
        return 95;
    if (entry.lower.endsWith(`_${word}`) || entry.lower.endsWith(`.${word}`))
        return 85;
    if (entry.last.startsWith(word))
        return 75;
    if (entry.parts.some(part => part.startsWith(word)) || entry.lower.startsWith(word))
        return 65;
    if (entry.lower.includes(word))
        return 55;
    if (entry.text.includes(` ${word} `))
        return 45;
    if (entry.text.includes(` ${word}`))
        return 35;
    return 0;
}

function hasLettersInOrder(text, letters) {
    let place = 0;

    for (const letter of letters) {
        place = text.indexOf(letter, place) + 1;
        if (place === 0)
            return false;
    }
    return true;
}

// Returns the entries of exactly this kind, or else of those kinds with this word.
function entriesOfKind(entries, kind) {
    const exact = entries.filter(entry => entry.kind.toLowerCase() === kind);

    return exact.length > 0 ? exact : entries.filter(
        entry => entry.kind.toLowerCase().split(/\W+/).includes(kind));
}

// Returns the entries that fit, the best first. A kind can be asked for before the words, as in
// "method: copy" or "python: load".
function searchSite(entries, query) {
    const asked = /^\s*([\w ]+?)\s*:(?!:)\s*(.*)$/.exec(query.toLowerCase());
    const kinds = asked ? entriesOfKind(entries, asked[1]) : [];
    const among = kinds.length > 0 ? kinds : entries;
    const words = (kinds.length > 0 ? asked[2] : query).toLowerCase().replace(/[()[\]]+/g, ' ')
        .split(/\s+/).filter(word => word !== '');

    if (words.length === 0)
        return [];

    const rate = entry => {
        const rates = words.map(word => rateWord(entry, word));
        const mean = rates.reduce((sum, value) => sum + value) / rates.length;
        const less = entry.isMinor && entry.lower !== words.join(' ') ? LESS_FOR_MINOR : 0;
        return rates.includes(0) ? 0 : Math.max(mean - less, 1);
    };
    // The words of a text are in the order of how often they occur.
    const place = entry => words.reduce((sum, word) => {
        const found = entry.text.indexOf(` ${word}`);
        return sum + (found < 0 ? entry.text.length : found);
    }, 0);
    let found = among.map(entry => ({entry, rating: rate(entry), place: place(entry)}));

    found = found.filter(({rating}) => rating > 0);
    if (found.length === 0) {
        const letters = words.join('');
        found = among.filter(entry => hasLettersInOrder(entry.lower, letters))
            .map(entry => ({entry, rating: 0, place: 0}));
    }
    const isInText = ({rating}) => rating < LEAST_FOR_NAME;
    found.sort((a, b) => b.rating - a.rating || a.entry.isMinor - b.entry.isMinor ||
        (isInText(a) ? a.place - b.place : b.entry.isWholeGuide - a.entry.isWholeGuide) ||
        a.entry.name.length - b.entry.name.length || (a.entry.lower < b.entry.lower ? -1 : 1));
    return found.map(({entry}) => entry);
}

// --- The page

const MOST_RESULTS = 200;

let siteEntries = null;

function loadIndex(callback) {
    if (siteEntries !== null) {
        callback();
        return;
    }

    const script = document.createElement('script');
    script.src = 'search-index.js';
    script.onload = () => {
        siteEntries = window.siteIndex.map(prepareEntry);
        callback();
    };
    document.head.appendChild(script);
}

function makeElement(name, text, className = '') {
    const element = document.createElement(name);

    element.textContent = text;
    element.className = className;
    return element;
}

function makeRow(entry) {
    const row = document.createElement('tr');
    const link = makeElement('a', '');
    const names = document.createElement('td');
    const summary = document.createElement('td');

    link.href = entry.href;
    link.appendChild(makeElement(entry.isGuide ? 'span' : 'code', entry.name));
    names.append(link, makeElement('div', entry.kind, 'result-kind'));
    summary.textContent = entry.summary;
    row.append(names, summary);
    return row;
}

function showResults(query, results) {
    const section = document.getElementById('search');
    const number = results.length === 1 ? '1 result' : `${results.length} results`;
    const status = document.createElement('div');

    status.setAttribute('role', 'status');
    status.append(makeElement('h1', `${number} for “${query}”`));
    section.replaceChildren(status);
    if (results.length > 0) {
        const table = makeElement('table', '', 'results');
        table.append(...results.slice(0, MOST_RESULTS).map(makeRow));
        section.append(table);
    }
    if (results.length > MOST_RESULTS)
        section.append(makeElement('p', `The first ${MOST_RESULTS} are shown.`));
}

function setShown(isSearching) {
    for (const id of ['main', 'toc'])
        document.getElementById(id)?.classList.toggle('hidden', isSearching);
    document.getElementById('search').classList.toggle('hidden', !isSearching);
}

function rememberQuery(query) {
    const address = new URL(window.location.href);

    if (query === '')
        address.searchParams.delete('q');
    else
        address.searchParams.set('q', query);
    try {
        window.history.replaceState(null, '', address);
    } catch {
        // Some browsers refuse this for pages on the disk.
    }
}

window.onInitSearch = () => {
    const input = document.getElementById('search-input');
    const form = document.getElementById('search-form');
    let results = [];

    const search = () => loadIndex(() => {
        const query = input.value.trim();

        results = searchSite(siteEntries, query);
        if (query !== '') {
            showResults(query, results);
            window.scroll({top: 0});
        }
        setShown(query !== '');
        rememberQuery(query);
    });

    let timer = null;
    input.addEventListener('input', () => {
        clearTimeout(timer);
        timer = setTimeout(search, 150);
    });
    form.addEventListener('submit', event => {
        event.preventDefault();
        loadIndex(() => {
            results = searchSite(siteEntries, input.value);
            if (results.length > 0)
                window.location.href = results[0].href;
        });
    });
    input.addEventListener('keydown', event => {
        if (event.key === 'Escape') {
            input.value = '';
            search();
        }
    });
    // A result may be on this page.
    window.addEventListener('hashchange', () => {
        input.value = '';
        setShown(false);
    });

    const query = new URLSearchParams(window.location.search).get('q');
    if (query) {
        input.value = query;
        search();
    }
};
