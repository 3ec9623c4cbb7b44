extension StoryDrawing {
  /// The drawing in Mermaid, which code hosts and editors render inside Markdown.
  var mermaid: String {
    var lines = ["flowchart TD"]
    for (index, node) in nodes.enumerated() {
      let label = Self.quoted(node.label)
      // Stadium shape for the start, double circles for endings, as in flow charts.
      let shape = node.isEnding ? ("(((", ")))") : node.isStart ? ("([", "])") : ("[", "]")
      lines.append("  n\(index)\(shape.0)\(label)\(shape.1)")
    }
    for edge in edges {
      let arrow = edge.isBroken || edge.isPossible ? "-.->" : edge.isAuthentic ? "==>" : "-->"
      let label = edge.label.isEmpty ? "" : "|\(Self.quoted(edge.label))|"
      lines.append("  n\(edge.from) \(arrow)\(label) n\(edge.to)")
    }
    lines.append("  classDef authentic stroke:#1f6feb,stroke-width:3px")
    lines.append("  classDef warning fill:#fff1c2")
    lines.append("  classDef error fill:#ffd7d5")
    lines += classes("authentic") { $0.isAuthentic }
    lines += classes("warning") { $0.severity == .warning }
    lines += classes("error") { $0.severity == .error }
    return lines.joined(separator: "\n") + "\n"
  }

  private func classes(_ name: String, _ isMember: (Node) -> Bool) -> [String] {
    let members = nodes.indices.filter { isMember(nodes[$0]) }
    return members.isEmpty ? [] : ["  class \(members.map { "n\($0)" }.joined(separator: ",")) \(name)"]
  }

  /// Returns a quoted label: characters with a meaning in Mermaid or HTML become character references.
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n", "\r", "\t": result += " "
      case "a"..."z", "A"..."Z", "0"..."9", " ", "-", "_", ".", ",", "!", "?", "'":
        result.unicodeScalars.append(scalar)
      default:
        if scalar.value >= 0x80 {
          result.unicodeScalars.append(scalar)
        } else if scalar.value >= 0x20, scalar.value != 0x7F {
          result += "#\(scalar.value);"
        }
      }
    }
    return result + "\""
  }
}
