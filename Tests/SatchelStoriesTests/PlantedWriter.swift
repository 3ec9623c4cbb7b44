import SatchelTesting

/// Writes a planted story with keys in any order, unknown keys, white space and escapes, and records the
/// positions of the planted faults.
struct PlantedWriter {
  enum Layout: CaseIterable, Sendable { case dense, oneLine, lines, wild }

  private(set) var bytes: [UInt8] = []
  private(set) var findings: [PlantedFinding] = []
  private var random: SeededRandom
  private let layout: Layout
  private var line = 1
  private var lineStart = 0
  private var path: [String] = []

  init(_ layout: Layout, seed: UInt64) {
    self.layout = layout
    random = SeededRandom(seed: seed)
  }

  mutating func write(_ node: PlantedNode) {
    space()
    for fault in node.faults {
      let pointer = path.map { "/" + $0 }.joined()
      findings.append(
        PlantedFinding(fault, line: line, column: bytes.count - lineStart + 1, pointer: pointer))
    }
    switch node.content {
    case .raw(let spelling): add(spelling)
    case .text(let text): write(text: text)
    case .array(let elements):
      add("[")
      for (index, element) in elements.enumerated() {
        if index > 0 { add(",") }
        path.append(String(index))
        write(element)
        path.removeLast()
      }
      space()
      add("]")
    case .object(let members): write(object: members)
    }
    space()
  }

  private mutating func write(object members: [(key: String, value: PlantedNode)]) {
    var members = members
    if layout != .dense {
      members.shuffle(using: &random)
      if random.once(in: 4) { members.insert(unknown(), at: random.below(members.count + 1)) }
    }
    add("{")
    for (index, member) in members.enumerated() {
      if index > 0 { add(",") }
      space()
      write(text: member.key)
      space()
      add(":")
      path.append(member.key)
      write(member.value)
      path.removeLast()
    }
    space()
    add("}")
  }

  /// Returns a member without a rule, with any value; its key may be known in other objects.
  private mutating func unknown() -> (key: String, value: PlantedNode) {
    let values: [PlantedNode] = [
      .raw("null"), .raw("-1.5e3"), .text("no words in id, \\ and \""),
      .array([.raw("1"), .array([]), .text("")]),
      .object([("id", .raw("7")), ("segments", .array([.raw("null")])), ("text", .text(""))]),
    ]
    let keys = ["note", "Id", "ID", "segment", "next_segment_id", "", "x\u{1F409}", "iſEnding", "position"]
    return (random.pick(keys), random.pick(values))
  }

  private mutating func space() {
    switch layout {
    case .dense: return
    case .oneLine: if random.once(in: 3) { add(" ") }
    case .lines: if random.once(in: 3) { breakLine("  ") }
    case .wild:
      switch random.below(6) {
      case 0: add(" ")
      case 1: add("\t \r")
      case 2: breakLine("")
      case 3: breakLine("\r")
      default: break
      }
    }
  }

  private mutating func breakLine(_ indentation: String) {
    bytes.append(0x0A)
    (line, lineStart) = (line + 1, bytes.count)
    add(indentation)
  }

  private mutating func write(text: String) {
    add("\"")
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": add("\\\"")
      case "\\": add("\\\\")
      case "\n": add("\\n")
      case "\t": add("\\t")
      case _ where scalar.value < 0x20 || (layout != .dense && random.once(in: 40)): addUnits(of: scalar)
      case "/" where random.once(in: 2): add("\\/")
      default: add(String(scalar))
      }
    }
    add("\"")
  }

  private mutating func addUnits(of scalar: Unicode.Scalar) {
    for unit in String(scalar).utf16 {
      let digits = String(unit, radix: 16, uppercase: random.once(in: 2))
      add("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
    }
  }

  private mutating func add(_ text: String) { bytes.append(contentsOf: text.utf8) }
}
