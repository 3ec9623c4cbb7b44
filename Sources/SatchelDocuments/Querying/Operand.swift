import SatchelCore
import SatchelJSON
import SatchelStorage
import SatchelSync

/// A value that a query compares with fields.
struct Operand: Sendable {
  enum Content: Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case bigNumber(JSONBigNumber)
    case string([UInt8])
    case typed(TypedValue)
    case container(JSONValue)
  }

  let value: JSONValue
  let content: Content

  /// - Throws: `.invalid` for a value that no value of the path's type equals
  init(_ value: JSONValue, of path: FieldPath) throws {
    guard let typed = try path.type?.operand(value, at: path.text) else {
      self.init(value)
      return
    }
    self.init(value, .typed(typed))
  }

  private init(_ value: JSONValue, _ content: Content) { (self.value, self.content) = (value, content) }

  init(_ value: JSONValue) {
    let content: Content =
      switch value {
      case .null: .null
      case .bool(let value): .bool(value)
      case .int(let value): .int(value)
      case .double(let value): .double(value)
      case .bigNumber(let value): .bigNumber(value)
      case .string(let text): .string(Array(text.utf8))
      case .array, .object: .container(value)
      }
    self.init(value, content)
  }

  /// The value as a field that has it; nil for an array or an object.
  private func withField<Result>(_ body: (FieldValue) -> Result) -> Result? {
    switch content {
    case .null: body(.null)
    case .bool(let value): body(.bool(value))
    case .int(let value): body(.int(value))
    case .double(let value): body(.double(value))
    case .bigNumber(let value): body(.bigNumber(value))
    case .string(let text): text.withUnsafeBytes { body(.string($0)) }
    case .typed(let value): body(.typed(value))
    case .container: nil
    }
  }

  /// Returns the value's key in an index, and whether records with that key are exactly those that equal it.
  ///
  /// - Parameter isPart: as of `KeyRanges`
  func key(isPart: Bool = false) -> (bytes: [UInt8], isExact: Bool) {
    var bytes: [UInt8] = []
    let isExact = withField {
      isPart ? OrderKey.append($0, upTo: ValueKey.maxLength, to: &bytes) : ValueKey.append($0, to: &bytes)
    }
    if let isExact { return (bytes, isExact) }
    return ([value.arrayValue == nil ? ValueKey.object : ValueKey.array], false)
  }

  /// Whether keys identify the value.
  var isExact: Bool { key().isExact }

  /// Returns whether a field equals the operand; 1 equals 1.0.
  func equals(_ field: FieldValue, in document: DocumentReader) -> Bool {
    switch (content, field) {
    case (.null, .null): return true
    case (.bool(let left), .bool(let right)): return left == right
    case (.int, .int), (.int, .double), (.double, .int), (.double, .double), (.bigNumber, .int),
      (.bigNumber, .double), (.int, .bigNumber), (.double, .bigNumber), (.bigNumber, .bigNumber),
      (.string, .string), (.string, .ownedString), (.typed, .typed):
      return order(of: field) == 0
    case (.container(let value), .array(let location)), (.container(let value), .object(let location)):
      guard let other = try? document.value(location) else { return false }
      return JSONValue.equal(value, other, numerically: true)
    default: return false
    }
  }

  /// Returns the order of a field relative to the operand: negative when the field is less; nil for values of
  /// different kinds.
  func order(of field: FieldValue) -> Int? {
    switch (field, content) {
    case (.int(let left), .int(let right)): return left < right ? -1 : left > right ? 1 : 0
    case (.double(let left), .double(let right)): return left < right ? -1 : left > right ? 1 : 0
    case (.int(let left), .double(let right)): return Self.order(left, right)
    case (.double(let left), .int(let right)): return Self.order(right, left).map { -$0 }
    case (.bigNumber(let left), .int(let right)): return left.order(right)
    case (.bigNumber(let left), .double(let right)): return left.order(right)
    case (.bigNumber(let left), .bigNumber(let right)): return left.order(right)
    case (.int(let left), .bigNumber(let right)): return -right.order(left)
    case (.double(let left), .bigNumber(let right)): return right.order(left).map { -$0 }
    case (.string(let left), .string(let right)): return right.withUnsafeBytes { left.order(against: $0) }
    case (.ownedString(let left), .string(let right)):
      return left.withUnsafeBytes { left in right.withUnsafeBytes { left.order(against: $0) } }
    case (.typed(let left), .typed(let right)):
      guard left.tag == right.tag else { return nil }
      return left.key.withUnsafeBytes { left in right.key.withUnsafeBytes { left.order(against: $0) } }
    default: return nil
    }
  }

  private static func order(_ left: Int64, _ right: Double) -> Int? {
    if let right = Int64(exactly: right) { return left < right ? -1 : left > right ? 1 : 0 }
    guard !right.isNaN else { return nil }
    // Not an integer, or outside the range of integers: rounding the integer cannot make it equal.
    if right >= 0x1p63 { return -1 }
    if right < -0x1p63 { return 1 }
    let whole = Int64(right.rounded(.down))
    return left <= whole ? -1 : 1
  }
}

extension UnsafeRawBufferPointer {
  /// Compares by bytes; a prefix comes first.
  func order(against other: UnsafeRawBufferPointer) -> Int {
    let common = Swift.min(count, other.count)
    for offset in 0..<common where self[offset] != other[offset] {
      return self[offset] < other[offset] ? -1 : 1
    }
    return count - other.count
  }
}

/// The values of an `in` test: whether a field equals one of them is one look-up, however many there are.
struct OperandSet: Sendable {
  let operands: [Operand]
  /// Whether the keys of all operands identify them.
  let hasExactKeys: Bool
  /// The keys that identify an operand; empty when there are few operands.
  private let keys: Set<[UInt8]>
  /// The operands that share their key with other values, by that key.
  private let others: [[UInt8]: [Operand]]

  /// The number of operands up to which comparing costs less than a key.
  private static let few = 4

  init(_ values: [JSONValue], of path: FieldPath) throws {
    operands = try values.map { try Operand($0, of: path) }
    var (keys, others): (Set<[UInt8]>, [[UInt8]: [Operand]]) = ([], [:])
    for operand in operands {
      let key = operand.key()
      if key.isExact { keys.insert(key.bytes) } else { others[key.bytes, default: []].append(operand) }
    }
    hasExactKeys = others.isEmpty
    (self.keys, self.others) = operands.count > Self.few ? (keys, others) : ([], [:])
  }

  func contains(_ field: FieldValue, in document: DocumentReader) -> Bool {
    guard operands.count > Self.few else { return operands.contains { $0.equals(field, in: document) } }
    var key: [UInt8] = []
    if ValueKey.append(field, to: &key) { return keys.contains(key) }
    return others[key]?.contains { $0.equals(field, in: document) } ?? false
  }
}

/// One record of a query, borrowed from the statement that reads it.
struct Candidate: ~Copyable {
  let row: Int64
  let key: UnsafeRawBufferPointer
  let revision: Int64
  let created: Int64
  let modified: Int64
  /// The document as it is stored: sensitive fields are sealed.
  let body: UnsafeRawBufferPointer
  let isSealed: Bool
  private let status: RecordStatusReader

  /// Creates a candidate from a row of `id, key, revision, created, modified, body, is_sealed`.
  init(_ statement: Statement, _ status: RecordStatusReader) throws {
    let revision = try statement.integer(2, in: RecordRow.revisions)
    let (created, modified) = (try statement.integer(3), try statement.integer(4))
    row = statement.anyInteger(0)
    key = statement.bytes(1)
    (self.revision, self.created, self.modified) = (revision, created, modified)
    body = statement.bytes(5)
    isSealed = statement.flag(6)
    self.status = status
  }

  /// Calls `body` with the document as it was written, which is checked to be JSON.
  ///
  /// - Throws: `.unauthorized` when the key of sensitive fields is not set, `.damaged`
  func plain<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
    try checkDocument()
    guard isSealed else { return try body(self.body) }
    return try status.opened(self.body, key).withUnsafeBytes { try body($0) }
  }

  var document: DocumentReader { DocumentReader(body) }

  /// The parts that the indexes read.
  var indexed: IndexedRecord { IndexedRecord(key: key, created: created, modified: modified, document: body) }

  func syncStatus() throws -> SyncStatus { try status.status(key) }

  func field(_ path: FieldPath) throws -> FieldValue {
    switch path {
    case .document(let path): return document.field(path)
    case .computed(let path): return path.value(in: document)
    // A query for one value refuses it.
    case .elements: return .missing
    case .id: return .string(key)
    case .created: return .int(created)
    case .modified: return .int(modified)
    case .revision: return .int(revision)
    case .syncStatus: return .ownedString(Array(try syncStatus().rawValue.utf8))
    }
  }

  /// Every document that leaves the library was checked here.
  func checkDocument() throws { try RecordRow.check(body, of: key) }

  /// Returns the related records that the query includes; none where it includes no relation.
  func included() throws -> IncludedRecords {
    guard let related = status.related else { return IncludedRecords() }
    try checkDocument()
    return try related.records(of: document)
  }

  /// Returns a copy that does not borrow from the statement.
  func record(withDocument: Bool) throws -> Record {
    let document = withDocument ? try plain { Array($0) } : []
    return Record(
      id: String(decoding: key, as: UTF8.self), revision: revision, created: created, modified: modified,
      syncStatus: try syncStatus(), body: document)
  }
}
