/// The elements of the tool's HTML pages: escaped text, facts, notes, pictures.
enum HTML {
  /// Escapes text for use as content or as a quoted attribute; control characters are replaced by U+FFFD, those of
  /// bidirectional text too, which can make one name look like another.
  static func escaped(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result.append(contentsOf: "&amp;".unicodeScalars)
      case "<": result.append(contentsOf: "&lt;".unicodeScalars)
      case ">": result.append(contentsOf: "&gt;".unicodeScalars)
      case "\"": result.append(contentsOf: "&quot;".unicodeScalars)
      case "'": result.append(contentsOf: "&#39;".unicodeScalars)
      case "\t", "\n": result.append(scalar)
      default: result.append(scalar.isTerminalControl ? "\u{FFFD}" : scalar)
      }
    }
    return String(result)
  }

  /// A section of a page, with its heading as its name.
  ///
  /// - Parameter body: HTML
  static func section(_ title: String, id: String, _ body: String) -> String {
    """
    <section id="\(id)" aria-labelledby="title-\(id)">
    <h2 id="title-\(id)" dir="auto">\(escaped(title))</h2>
    \(body)</section>

    """
  }

  static func file(_ name: String) -> String { "<p class=\"file\">\(escaped(name))</p>\n" }

  static func note(_ text: String) -> String { "<p class=\"note\">\(escaped(text))</p>\n" }

  /// A note that a list is not complete; empty when it is.
  static func more(than shown: Int, of count: Int, listedBy command: String) -> String {
    count > shown ? note("And \(count - shown) more: satchel \(command) lists them.") : ""
  }

  /// A list of names and values; those without a value are left out.
  static func facts(_ pairs: [(name: String, value: String?)]) -> String {
    let items = pairs.compactMap { name, value in
      value.map { "<div><dt>\(name)</dt><dd dir=\"auto\">\(escaped($0))</dd></div>" }
    }
    return "<dl>\(items.joined())</dl>\n"
  }

  /// Converts an SVG document of Graphviz to an element of a page: removes the document's prologue, and the
  /// ids, which would not be unique in a page with two pictures; replaces control characters as `escaped` does.
  ///
  /// - Returns: nil when the document contains no `<svg>` element
  static func picture(_ svg: String, label: String) -> String? {
    let bytes = Array(svg.utf8)
    let tag = Array("<svg".utf8)
    guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: tag) }) else { return nil }
    let scalars = String(decoding: bytes[(start + tag.count)...], as: UTF8.self).unicodeScalars
    // Graphviz writes a quote in text as &quot;, so every match is an attribute.
    let name = Array(" id=\"".unicodeScalars)
    var result = String.UnicodeScalarView()
    var rest = scalars[...]
    while let first = rest.first {
      if first == " ", rest.starts(with: name) {
        rest = rest.dropFirst(name.count).drop { $0 != "\"" }.dropFirst()
      } else {
        result.append(first.isTerminalControl && first != "\n" ? "\u{FFFD}" : first)
        rest.removeFirst()
      }
    }
    return "<svg role=\"img\" aria-label=\"\(escaped(label))\"" + String(result)
  }
}
