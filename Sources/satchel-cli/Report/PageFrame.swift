import Satchel

/// The frame of the tool's HTML pages: one file without external resources.
struct PageFrame {
  /// A page's own script, with its SHA-256 for the content security policy.
  struct Script {
    let text: String
    let hash: String
  }

  let title: String
  var script: Script?

  /// The page up to its content. The content security policy allows only the page's own script and style, and no
  /// requests.
  var head: String {
    let scripts = script.map { " script-src '\($0.hash)';" } ?? ""
    return """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none';\(scripts) \
      style-src '\(PageStyle.hash)'; base-uri 'none'; form-action 'none'">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta name="generator" content="satchel \(Store.version)">
      <title>\(HTML.escaped(title))</title>
      <style>\(PageStyle.text)</style>
      </head>
      <body>
      <main>
      <h1 dir="auto">\(HTML.escaped(title))</h1>

      """
  }

  var foot: String {
    let scripts = script.map { "<script>\($0.text)</script>\n" } ?? ""
    return "</main>\n\(scripts)</body>\n</html>\n"
  }
}

/// A table of a page. On a small screen each row is a card, with the column's name above each of its cells.
struct PageTable {
  struct Column {
    var title: String
    var isNumber = false
  }

  /// A cell's content as HTML.
  struct Cell {
    var html: String
    /// The value by which the page's script sorts a number that is not written as digits.
    var order: String?

    static func text(_ text: String) -> Cell { Cell(html: HTML.escaped(text)) }
    static func number(_ number: Int?) -> Cell { Cell(html: number.map { "\($0)" } ?? "") }
  }

  let caption: String
  /// Whether the caption is only for screen readers, because a heading above the table has the same text.
  var isCaptionHidden = false
  /// The first is that of the rows' headings.
  let columns: [Column]
  /// The id; only a table that the page's script sorts has one.
  var id: String?
  private var rows = ""

  init(_ caption: String, id: String? = nil, _ columns: [Column]) {
    (self.caption, self.columns, self.id) = (caption, columns, id)
  }

  /// Adds a row.
  ///
  /// - Parameters:
  ///   - heading: HTML
  ///   - attributes: of the row, as HTML
  mutating func add(_ heading: String, _ cells: [Cell], attributes: String = "") {
    rows += "<tr role=\"row\"\(attributes.isEmpty ? "" : " \(attributes)")>"
    rows += "<th scope=\"row\" role=\"rowheader\" dir=\"auto\">\(heading)</th>"
    for (column, cell) in zip(columns.dropFirst(), cells) {
      let order = cell.order.map { " data-value=\"\($0)\"" } ?? ""
      let kind = column.isNumber ? " class=\"number\"" : " dir=\"auto\""
      rows += "<td role=\"cell\" data-label=\"\(column.title)\"\(kind)\(order)>\(cell.html)</td>"
    }
    rows += "</tr>\n"
  }

  /// The implicit roles of the elements, which they lose where the style displays them as blocks.
  var html: String {
    let heads = columns.map { column in
      "<th scope=\"col\" role=\"columnheader\"\(column.isNumber ? " class=\"number\"" : "")>\(column.title)</th>"
    }
    let name = id.map { " id=\"\($0)\" class=\"sorted\"" } ?? ""
    return """
      <div class="scroll" role="region" aria-label="\(caption)" tabindex="0">
      <table\(name) role="table"><caption\(isCaptionHidden ? " class=\"unseen\"" : "")>\(caption)</caption>
      <thead role="rowgroup"><tr role="row">\(heads.joined())</tr></thead>
      <tbody role="rowgroup">
      \(rows)</tbody></table></div>

      """
  }
}
