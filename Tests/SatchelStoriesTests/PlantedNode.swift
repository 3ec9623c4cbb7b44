import SatchelStories

/// A JSON value to write, and the expected findings.
struct PlantedNode {
  enum Content {
    /// The raw text in the file.
    case raw(String)
    case text(String)
    case array([PlantedNode])
    case object([(key: String, value: PlantedNode)])
  }

  /// An expected finding of the value.
  struct Fault: Hashable {
    var code: StoryFinding.Code
    var isMilder = false
  }

  var content: Content
  var faults: [Fault] = []

  static func raw(_ spelling: String) -> PlantedNode { PlantedNode(content: .raw(spelling)) }
  static func text(_ text: String) -> PlantedNode { PlantedNode(content: .text(text)) }
  static func array(_ elements: [PlantedNode]) -> PlantedNode { PlantedNode(content: .array(elements)) }
  static func object(_ members: [(key: String, value: PlantedNode)]) -> PlantedNode {
    PlantedNode(content: .object(members))
  }

  func with(_ code: StoryFinding.Code, isMilder: Bool = false) -> PlantedNode {
    var node = self
    node.faults.append(Fault(code: code, isMilder: isMilder))
    return node
  }
}

/// The properties of a finding that these tests compare.
struct PlantedFinding: Hashable, Comparable, CustomStringConvertible {
  var line: Int
  var column: Int
  var code: String
  var severity: String
  var pointer: String

  init(_ finding: StoryFinding) {
    (line, column) = (finding.position.line, finding.position.column)
    (code, severity, pointer) = (finding.code.rawValue, finding.severity.rawValue, finding.pointer)
  }

  init(_ fault: PlantedNode.Fault, line: Int, column: Int, pointer: String) {
    (self.line, self.column, self.pointer) = (line, column, pointer)
    code = fault.code.rawValue
    severity = fault.isMilder ? "warning" : fault.code.severity.rawValue
  }

  var description: String { "\(line):\(column) \(severity) \(code) \(pointer)" }

  static func < (one: PlantedFinding, other: PlantedFinding) -> Bool {
    (one.line, one.column, one.code, one.pointer) < (other.line, other.column, other.code, other.pointer)
  }
}
