/// The style sheet of the tool's pages.
enum PageStyle {
  /// The SHA-256 of `text` for the page's content security policy; a test verifies it.
  static let hash = "sha256-hUOa1zzHBnsUaUhDFzaCmw0xqi53x1FuU8P8KSOU4Cc="

  static let text = """
    :root { color-scheme: light dark; --ground: #fff; --text: #1d1f21; --quiet: #5b6066; --line: #d4d7db;
      --link: #0b57b0; --error: #b3261e; --warning: #7a5200; --good: #0b6b45; --mark: #f3f4f6; }
    @media (prefers-color-scheme: dark) {
      :root { --ground: #16181b; --text: #e8e9ea; --quiet: #a5abb2; --line: #3a3f45; --link: #8ab8ff;
        --error: #ff9a92; --warning: #f0c060; --good: #6fd3a4; --mark: #23272c; }
    }
    body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
    main { max-width: 75rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
    a { color: var(--link); }
    :focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
    .search { position: sticky; top: 0; padding: .75rem 0; background: var(--ground); display: flex;
      flex-wrap: wrap; gap: .75rem; align-items: center; }
    [hidden] { display: none !important; }
    input { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--quiet);
      border-radius: .3rem; padding: .3rem .6rem; flex: 1 1 18rem; max-width: 32rem; }
    .scroll { overflow-x: auto; }
    table { border-collapse: collapse; width: 100%; }
    caption { text-align: left; color: var(--quiet); padding: .25rem 0; }
    th, td { text-align: start; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
    thead th { white-space: nowrap; background: var(--mark); }
    th button { all: unset; cursor: pointer; font-weight: 600; }
    th button:focus-visible { outline: 3px solid var(--link); }
    th[aria-sort="ascending"] button::after { content: " ▲"; }
    th[aria-sort="descending"] button::after { content: " ▼"; }
    tbody th { font-weight: 500; }
    .number { text-align: end; font-variant-numeric: tabular-nums; }
    section { border-top: 2px solid var(--line); margin-top: 2rem; content-visibility: auto;
      contain-intrinsic-size: auto 40rem; }
    .file, .note { color: var(--quiet); overflow-wrap: anywhere; }
    dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: .5rem 1.5rem; }
    dt { color: var(--quiet); font-size: .875rem; }
    dd { margin: 0; overflow-wrap: anywhere; }
    .findings { padding-left: 1.2rem; }
    .findings li { overflow-wrap: anywhere; }
    .error strong { color: var(--error); }
    .warning strong { color: var(--warning); }
    code { background: var(--mark); padding: 0 .3rem; border-radius: .2rem; }
    .graph { overflow: auto; max-height: 85vh; background: #fff; border: 1px solid var(--line); }
    .graph svg { display: block; margin: 0 auto; }
    summary { cursor: pointer; padding: .4rem 0; }
    nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; }
    .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
    .state { display: inline-block; border: 1px solid currentColor; border-radius: 1rem; padding: 0 .7rem; }
    .sound { color: var(--good); }
    .damaged { color: var(--error); }
    .bar { display: block; width: 100%; min-width: 6rem; height: .9rem; fill: var(--link); }
    td:has(> .bar) { width: 60%; vertical-align: middle; }
    @media (min-width: 48.1rem) { .number + :not(.number) { padding-inline-start: 1.5rem; } }
    @media (max-width: 48rem) {
      main { padding: .5rem 1rem 3rem; }
      h1 { font-size: 1.6rem; }
      .search { position: static; }
      dl { grid-template-columns: repeat(auto-fill, minmax(7.5rem, 1fr)); }
      table, caption, thead, tbody, th, td { display: block; }
      thead { display: none; }
      table.sorted thead { display: block; }
      table.sorted thead tr { display: flex; flex-wrap: wrap; gap: .4rem; padding: .4rem 0; }
      table.sorted thead th { border: 1px solid var(--line); border-radius: 1rem; padding: .15rem .7rem; }
      tbody tr { display: grid; grid-template-columns: repeat(auto-fill, minmax(6.5rem, 1fr)); gap: .1rem 1rem;
        border-bottom: 2px solid var(--line); padding: .7rem 0; }
      tbody th { grid-column: 1 / -1; border: 0; padding: 0; font-size: 1.05rem; overflow-wrap: anywhere; }
      td, td.number { border: 0; padding: 0; text-align: start; overflow-wrap: anywhere; width: auto; }
      td:has(> .bar), td:only-of-type { grid-column: 1 / -1; width: auto; }
      td:empty { display: none; }
      td::before { content: attr(data-label); display: block; color: var(--quiet); font-size: .8rem; }
    }
    @media print { .search, nav { display: none; } .graph { max-height: none; } }
    """
}
