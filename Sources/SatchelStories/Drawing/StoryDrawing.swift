/// The nodes and edges of a drawing of a story, independent of the output format.
struct StoryDrawing {
  struct Node {
    var label: String
    var isStart = false
    var isEnding = false
    var isAuthentic = false
    /// It can only possibly be reached.
    var isPossible = false
    var severity: StoryFinding.Severity?
    /// The codes of its findings.
    var codes: [String] = []
  }

  struct Edge {
    var from: Int
    var to: Int
    var label: String
    var isAuthentic = false
    var isBroken = false
    /// It leads only possibly to its target.
    var isPossible = false
  }

  /// The segments in the order of the file, followed by the missing segments that choices lead to, and by one for what
  /// only the game knows.
  private(set) var nodes: [Node] = []
  private(set) var edges: [Edge] = []
  let segmentCount: Int
  let title: String

  /// The maximum length of an edge's label, in characters.
  private static let maxLabelLength = 40

  init(_ analysis: StoryAnalysis) {
    let table = analysis.table
    segmentCount = table.segments.count
    title = table.string(.title) ?? ""
    for index in table.segments.indices {
      let record = table.segments[index]
      nodes.append(
        Node(
          label: record.flags.contains(.hasID) ? analysis.id(index) : "(segment \(index))",
          isStart: index == 0,
          isEnding: analysis.graph.isEnding[index], isAuthentic: record.flags.contains(.isAuthentic),
          isPossible: !analysis.reach.contains(index) && analysis.canReach(index)))
    }
    markFaults(StoryRules(analysis).faults)
    var missing: [[UInt8]: Int] = [:]
    var unknown: Int?
    for index in table.segments.indices {
      for choice in table.choiceRange(index) {
        let record = table.choices[choice]
        let isDynamic = record.flags.contains(.isDynamic)
        guard record.flags.contains(.hasTarget) || isDynamic else { continue }
        var edge = Edge(
          from: index, to: Int(analysis.graph.targets[choice]),
          label: Self.short(table.text.string(record.text)), isPossible: isDynamic)
        if isDynamic {
          let target = analysis.graph.ids.find(table.text.bytes(record.target)) ?? unknown ?? nodes.count
          edge.to = target
          if target == nodes.count {
            unknown = target
            nodes.append(Node(label: "?", isPossible: true, codes: ["dynamic"]))
          }
        } else if edge.to < 0 {
          let name = Array(table.text.bytes(record.target))
          edge.to = missing[name] ?? nodes.count
          edge.isBroken = true
          if edge.to == nodes.count {
            missing[name] = edge.to
            nodes.append(Node(label: table.text.string(record.target), severity: .error, codes: ["missing"]))
          }
        }
        edge.isAuthentic = nodes[edge.from].isAuthentic && nodes[edge.to].isAuthentic
        edges.append(edge)
      }
    }
  }

  private mutating func markFaults(_ faults: ContiguousArray<StoryFault>) {
    for fault in faults where fault.segment >= 0 {
      let index = Int(fault.segment)
      if nodes[index].severity != .error { nodes[index].severity = fault.severity }
      if !nodes[index].codes.contains(fault.code.rawValue) { nodes[index].codes.append(fault.code.rawValue) }
    }
  }

  private static func short(_ text: String) -> String {
    text.count <= maxLabelLength ? text : text.prefix(maxLabelLength - 1) + "…"
  }
}

/// The format of a drawing.
public enum StoryGraphFormat: String, Sendable, CaseIterable {
  /// Graphviz.
  case dot
  case mermaid
}

extension Story {
  /// Returns a drawing of the story with a node for each segment and an arrow for each choice. The start,
  /// endings, the authentic path and findings are marked, and missing segments are drawn as targets of their
  /// choices.
  public func graph(_ format: StoryGraphFormat) -> String {
    let drawing = StoryDrawing(analysis)
    switch format {
    case .dot: return drawing.dot
    case .mermaid: return drawing.mermaid
    }
  }
}
