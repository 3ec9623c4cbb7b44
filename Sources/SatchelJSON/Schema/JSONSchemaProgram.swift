/// A compiled schema. The first node is the root.
struct JSONSchemaProgram: Sendable {
  var nodes: ContiguousArray<JSONSchemaNode> = []
  /// The rules of all nodes.
  var rules: ContiguousArray<JSONSchemaRule> = []
  /// The nodes of all lists of schemas.
  var lists: ContiguousArray<Int> = []
  var types: [[JSONSchemaType]] = []
  var bigNumbers: [JSONBigNumber] = []
  var choices: [JSONSchemaChoices] = []
  var patterns: [JSONPattern] = []
  var members: [JSONSchemaMembers] = []
  var requirements: [[(key: String, required: [String])]] = []
  var dependentSchemas: [[(key: String, index: Int)]] = []
  var warnings: [JSONSchemaWarning] = []

  mutating func add(_ schemas: [Int]) -> JSONSchemaList {
    lists += schemas
    return JSONSchemaList(range: lists.count - schemas.count..<lists.count)
  }

  /// The schemas that a node applies to the same value; a cycle of these never terminates.
  func inPlace(_ node: Int) -> [Int] {
    rules[nodes[node].rules].flatMap { rule -> [Int] in
      switch rule {
      case .reference(let index), .not(let index): [index]
      case .all(let list), .any(let list), .one(let list): Array(lists[list.range])
      case .condition(let test, let then, let other): [test, then, other].compactMap(\.self)
      case .dependentSchemas(let number): dependentSchemas[number].map(\.index)
      default: []
      }
    }
  }
}

/// "required", "properties", "patternProperties" and "additionalProperties": one pass over an object's members
/// checks them all.
final class JSONSchemaMembers: Sendable {
  /// A name of "properties" or "required".
  struct Named: Sendable {
    /// The schema of the property; -1 for a name that is only required.
    var index = -1
    var isRequired = false
  }

  let names: JSONSchemaNames
  /// By the numbers of `names`.
  let named: ContiguousArray<Named>
  let required: [String]
  let patterns: [(pattern: JSONPattern, index: Int)]
  let additional: Int?

  init(
    properties: [(key: String, index: Int)], required: [String],
    patterns: [(pattern: JSONPattern, index: Int)], additional: Int?
  ) {
    var numbers: [JSONKey: Int] = [:]
    var named: ContiguousArray<Named> = []
    var names: [String] = []
    func number(_ name: String) -> Int {
      if let known = numbers[JSONKey(text: name)] { return known }
      numbers[JSONKey(text: name)] = names.count
      names.append(name)
      named.append(Named())
      return names.count - 1
    }
    for (key, index) in properties { named[number(key)].index = index }
    for name in required { named[number(name)].isRequired = true }
    self.names = JSONSchemaNames(names)
    self.named = named
    self.required = required
    self.patterns = patterns
    self.additional = additional
  }
}

/// The values of an "enum", or the one of a "const".
struct JSONSchemaChoices: Sendable {
  let values: [JSONValue]
  let strings: JSONSchemaNames
  private let others: Set<JSONDistinctKey>
  private let hasContainers: Bool

  init(_ values: [JSONValue]) {
    self.values = values
    strings = JSONSchemaNames(values.compactMap(\.stringValue))
    let others = values.filter { $0.stringValue == nil }
    self.others = Set(others.map { JSONDistinctKey(value: $0) })
    hasContainers = others.contains { $0.arrayValue != nil || $0.objectValue != nil }
  }

  /// Returns whether a value of another kind than a string is among them.
  ///
  /// - Parameter value: not called when the kind decides
  func contains(_ kind: JSONKind, _ value: () -> JSONValue) -> Bool {
    if others.isEmpty || !hasContainers && (kind == .array || kind == .object) { return false }
    return others.contains(JSONDistinctKey(value: value()))
  }
}

/// Strings that are found by their bytes.
struct JSONSchemaNames: Sendable {
  private struct Entry {
    var start: Int
    var count: Int
    /// The position in the list that the names were made of.
    var number: Int
  }

  private let bytes: ContiguousArray<UInt8>
  /// By length, then by bytes.
  private let entries: ContiguousArray<Entry>
  /// The positions in `entries` by number.
  private let positions: ContiguousArray<Int>

  /// - Parameter names: of equal ones the first is found
  init(_ names: [String]) {
    var (bytes, entries) = (ContiguousArray<UInt8>(), ContiguousArray<Entry>())
    for (number, name) in names.enumerated() {
      entries.append(Entry(start: bytes.count, count: name.utf8.count, number: number))
      bytes += name.utf8
    }
    bytes.withUnsafeBytes { bytes in
      entries.sort { left, right in
        let name = UnsafeRawBufferPointer(rebasing: bytes[right.start..<right.start + right.count])
        let order = Self.order(left, name, in: bytes)
        return order == 0 ? left.number < right.number : order < 0
      }
    }
    var positions = ContiguousArray(repeating: 0, count: entries.count)
    for (position, entry) in entries.enumerated() { positions[entry.number] = position }
    (self.bytes, self.entries, self.positions) = (bytes, entries, positions)
  }

  /// The names, by their numbers.
  var texts: [String] {
    positions.map { position in
      let entry = entries[position]
      return String(decoding: bytes[entry.start..<entry.start + entry.count], as: UTF8.self)
    }
  }

  /// Returns the number of a name; nil when it is not there.
  ///
  /// - Parameter hint: the number that is compared first: members usually come in the order of the schema
  func find(_ name: UnsafeRawBufferPointer, near hint: Int = 0) -> Int? {
    bytes.withUnsafeBytes { bytes in
      if hint < positions.count, Self.order(entries[positions[hint]], name, in: bytes) == 0 { return hint }
      var (low, high) = (0, entries.count)
      while low < high {
        let middle = (low + high) / 2
        if Self.order(entries[middle], name, in: bytes) < 0 { low = middle + 1 } else { high = middle }
      }
      guard low < entries.count, Self.order(entries[low], name, in: bytes) == 0 else { return nil }
      return entries[low].number
    }
  }

  private static func order(
    _ entry: Entry, _ name: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer
  ) -> Int {
    if entry.count != name.count { return entry.count - name.count }
    for offset in 0..<name.count where bytes[entry.start + offset] != name[offset] {
      return bytes[entry.start + offset] < name[offset] ? -1 : 1
    }
    return 0
  }
}
