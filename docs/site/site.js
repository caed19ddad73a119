/* SPDX-License-Identifier: LGPL-2.1-or-later */

// Code and tables that are wider than the page get the focus, so that keys scroll them.

(() => {
    function update() {
        for (const box of document.querySelectorAll('pre, .scroller')) {
            if (box.scrollWidth > box.clientWidth)
                box.tabIndex = 0;
            else
                box.removeAttribute('tabindex');
        }
    }

    window.addEventListener('load', update);
    window.addEventListener('resize', update);
    window.addEventListener('click', update);
})();

// Tabs of languages. Without this script, the blocks are shown one after the other.

(() => {
    const KEY = 'mtldl-language';
    const lists = [];

    // Pages on the disk may have no storage.
    function recall() {
        try {
            return window.localStorage.getItem(KEY);
        } catch {
            return null;
        }
    }

    function remember(language) {
        try {
            window.localStorage.setItem(KEY, language);
        } catch {
            // It is the choice for this page only.
        }
    }

    function choose(language) {
        for (const tabs of lists) {
            if (!tabs.some(({tab}) => tab.dataset.language === language))
                continue;
            for (const {tab, panel} of tabs) {
                const isChosen = tab.dataset.language === language;

                tab.setAttribute('aria-selected', String(isChosen));
                tab.tabIndex = isChosen ? 0 : -1;
                panel.hidden = !isChosen;
            }
        }
    }

    // Keeps what the user looks at where it is, as other groups change their height.
    function chooseAt(tab) {
        const {top} = tab.getBoundingClientRect();

        choose(tab.dataset.language);
        remember(tab.dataset.language);
        window.scrollBy(0, tab.getBoundingClientRect().top - top);
    }

    function onKeyDown(event) {
        const tabs = [...event.currentTarget.children];
        const here = tabs.indexOf(document.activeElement);
        const there = {
            ArrowRight: (here + 1) % tabs.length,
            ArrowLeft: (here + tabs.length - 1) % tabs.length,
            Home: 0,
            End: tabs.length - 1,
        }[event.key];

        if (there !== undefined) {
            event.preventDefault();
            chooseAt(tabs[there]);
            tabs[there].focus();
        }
    }

    function makeTabs(group, number) {
        const list = document.createElement('div');
        const tabs = [];

        list.setAttribute('role', 'tablist');
        list.setAttribute('aria-label', 'Language');
        list.className = 'tab-list';
        for (const panel of group.querySelectorAll('.tab')) {
            const {language} = panel.dataset;
            const tab = document.createElement('button');

            tab.type = 'button';
            tab.id = `tab-${number}-${language}`;
            tab.dataset.language = language;
            tab.textContent = panel.querySelector('.tab-title').textContent;
            tab.setAttribute('role', 'tab');
            tab.setAttribute('aria-controls', `panel-${number}-${language}`);
            tab.addEventListener('click', () => chooseAt(tab));
            panel.id = `panel-${number}-${language}`;
            panel.setAttribute('role', 'tabpanel');
            panel.setAttribute('aria-labelledby', tab.id);
            panel.querySelector('.tab-title').hidden = true;
            list.append(tab);
            tabs.push({tab, panel});
        }
        list.addEventListener('keydown', onKeyDown);
        group.prepend(list);
        lists.push(tabs);
    }

    document.addEventListener('DOMContentLoaded', () => {
        document.querySelectorAll('.tabs').forEach(makeTabs);
        for (const tabs of lists)
            choose(tabs[0].tab.dataset.language);
        choose(recall());
    });
})();
