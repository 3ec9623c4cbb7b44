/// The report's script, which sorts and searches. Without it the page shows the same content.
enum ReportScript {
  /// The SHA-256 of `text` for the page's content security policy; a test verifies it.
  static let hash = "sha256-LC9QBwrTcx4mowHYz15ZOnJeYih8Vl0On7ZBLP3h1NM="

  static let text = #"""
    "use strict";
    const plain = text => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
    const body = document.querySelector("#stories tbody");
    const rows = Array.from(body.rows);
    const search = document.getElementById("search");
    const shown = document.getElementById("shown");
    const texts = new Map(rows.map(row => [row, plain(row.dataset.search)]));

    function filter() {
      const words = plain(search.value).split(/\s+/u).filter(word => word !== "");
      let count = 0;
      for (const row of rows) {
        const fits = words.every(word => texts.get(row).includes(word));
        row.hidden = !fits;
        document.getElementById("story-" + row.dataset.story).hidden = !fits;
        if (fits) count += 1;
      }
      shown.textContent = words.length === 0 ? "" : count + " of " + rows.length;
    }

    function sort(head, column) {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const isNumber = column > 3;
      const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
      const key = row => {
        const cell = row.cells[column];
        const text = (cell.dataset.value ?? cell.textContent).trim();
        return isNumber ? (text === "" ? -1 : Number(text)) : text;
      };
      const keys = new Map(rows.map(row => [row, key(row)]));
      const compare = (a, b) => isNumber
        ? (a === b ? 0 : a < b ? -1 : 1) : collator.compare(a, b);
      rows.sort((a, b) => (down ? -1 : 1) * compare(keys.get(a), keys.get(b)));
      body.append(...rows);
    }

    document.querySelectorAll("#stories thead th").forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.addEventListener("click", () => sort(head, column));
      head.replaceChildren(button);
    });
    search.parentNode.hidden = false;
    search.addEventListener("input", filter);
    """#
}
