/// Text that is made safe to stand in a page.
enum HTML {
  /// A text as content or as a quoted attribute: nothing in it is markup, and nothing in it is no character of HTML.
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
      default:
        let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
        result.append(isControl ? "\u{FFFD}" : scalar)
      }
    }
    return String(result)
  }

  /// A picture that Graphviz drew, as an element of a page: without the document around it, and without ids, which
  /// would not be unique beside a second picture.
  ///
  /// - Returns: nil where there is no picture in it
  static func picture(_ svg: String, label: String) -> String? {
    let bytes = Array(svg.utf8)
    let mark = Array("<svg".utf8)
    guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }) else { return nil }
    let pieces = String(decoding: bytes[(start + mark.count)...], as: UTF8.self).unicodeScalars
    // In the text of an SVG a quote is always &quot;, so that this is an attribute wherever it stands.
    let name = Array(" id=\"".unicodeScalars)
    var result = String.UnicodeScalarView()
    var rest = pieces[...]
    while let first = rest.first {
      if first == " ", rest.starts(with: name) {
        rest = rest.dropFirst(name.count).drop { $0 != "\"" }.dropFirst()
      } else {
        result.append(first)
        rest.removeFirst()
      }
    }
    return "<svg role=\"img\" aria-label=\"\(escaped(label))\"" + String(result)
  }
}
