extension StoryDrawing {
  /// The drawing in the DOT language of Graphviz. Nodes are named `n0`, `n1`, … in the order of the file, so
  /// that ids are never part of the syntax.
  var dot: String {
    var lines = [
      "digraph story {",
      "  graph [label=\(Self.quoted(title)), labelloc=t, fontname=\"sans-serif\", rankdir=TB];",
      "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f6f6f4\", color=\"#8a8a86\", fontname=\"sans-serif\"];",
      "  edge [color=\"#8a8a86\", fontname=\"sans-serif\", fontsize=10];",
    ]
    for (index, node) in nodes.enumerated() { lines.append("  n\(index) [\(attributes(node, index))];") }
    for edge in edges { lines.append("  n\(edge.from) -> n\(edge.to) [\(attributes(edge))];") }
    lines.append("}")
    return lines.joined(separator: "\n") + "\n"
  }

  private func attributes(_ node: Node, _ index: Int) -> String {
    var attributes = ["label=\(Self.quoted(node.label))"]
    if index >= segmentCount || node.isPossible { attributes.append("style=dashed") }
    if node.isStart { attributes.append("shape=house") }
    if node.isEnding { attributes.append("peripheries=2") }
    if node.isAuthentic { attributes.append("color=\"#1f6feb\", penwidth=2") }
    switch node.severity {
    case .error: attributes.append("fillcolor=\"#ffd7d5\"")
    case .warning: attributes.append("fillcolor=\"#fff1c2\"")
    case nil: break
    }
    if !node.codes.isEmpty { attributes.append("tooltip=\(Self.quoted(node.codes.joined(separator: ", ")))") }
    return attributes.joined(separator: ", ")
  }

  private func attributes(_ edge: Edge) -> String {
    var attributes = ["label=\(Self.quoted(edge.label))"]
    if edge.isAuthentic { attributes.append("color=\"#1f6feb\", penwidth=2") }
    if edge.isBroken { attributes.append("color=\"#cf222e\", style=dashed") }
    if edge.isPossible { attributes.append("style=dashed") }
    return attributes.joined(separator: ", ")
  }

  /// Returns a double-quoted DOT string; only quotes and backslashes need escapes.
  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "\n", "\r", "\t": result += " "
      default: if scalar.value >= 0x20, scalar.value != 0x7F { result.unicodeScalars.append(scalar) }
      }
    }
    return result + "\""
  }
}
