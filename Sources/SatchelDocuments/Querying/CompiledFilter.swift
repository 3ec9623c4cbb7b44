import CScan
import SatchelCore
import SatchelJSON
import SatchelStorage

/// A filter with parsed paths and operands. Negations are those of its tests: `not` of several conditions is another
/// combination of the negated ones.
final class CompiledFilter: Sendable {
  enum Node: Sendable {
    case test(CompiledTest)
    case all([CompiledFilter])
    case any([CompiledFilter])
  }

  let node: Node

  /// - Throws: `.invalid` for an invalid path, for a range of values without an order, and for a value that no value of
  ///   the path's type equals
  init(_ filter: RecordFilter, _ types: TypedPaths, isNegated: Bool = false) throws {
    switch filter {
    case .field(let path, let test): node = .test(try CompiledTest(path, test, types, isNegated: isNegated))
    case .all(let parts):
      let parts = try parts.map { try CompiledFilter($0, types, isNegated: isNegated) }
      node = isNegated ? .any(parts) : .all(parts)
    case .any(let parts):
      let parts = try parts.map { try CompiledFilter($0, types, isNegated: isNegated) }
      node = isNegated ? .all(parts) : .any(parts)
    case .not(let part): node = try CompiledFilter(part, types, isNegated: !isNegated).node
    }
  }

  /// Calls `body` with each test.
  func eachTest(_ body: (CompiledTest) throws -> Void) rethrows {
    switch node {
    case .test(let test): try body(test)
    case .all(let parts), .any(let parts): for part in parts { try part.eachTest(body) }
    }
  }

  func matches(_ candidate: borrowing Candidate) throws -> Bool {
    switch node {
    case .test(let test): return try test.matches(candidate)
    case .all(let parts):
      for part in parts where try !part.matches(candidate) { return false }
      return true
    case .any(let parts):
      for part in parts where try part.matches(candidate) { return true }
      return false
    }
  }

  /// Whether a document matches; every path leads into it.
  func matches(_ record: IndexedRecord) throws -> Bool {
    switch node {
    case .test(let test): return try test.matches(record)
    case .all(let parts):
      for part in parts where try !part.matches(record) { return false }
      return true
    case .any(let parts):
      for part in parts where try part.matches(record) { return true }
      return false
    }
  }

  /// Whether the same records match both, as far as that can be seen.
  func isSame(as other: CompiledFilter) -> Bool {
    switch (node, other.node) {
    case (.test(let left), .test(let right)): left.isSame(as: right)
    case (.all(let left), .all(let right)), (.any(let left), .any(let right)):
      left.elementsEqual(right) { $0.isSame(as: $1) }
    default: false
    }
  }

  /// The conditions that must all hold, each a test or a choice; together they are the filter.
  var conditions: [CompiledFilter] {
    if case .all(let parts) = node { return parts.flatMap(\.conditions) }
    return [self]
  }

  /// The test that the filter is; nil for a combination.
  var test: CompiledTest? {
    if case .test(let test) = node { return test }
    return nil
  }
}

/// A test of one path.
final class CompiledTest: Sendable {
  enum Test: Sendable {
    case equals(Operand)
    case less(Operand, orEqual: Bool)
    case greater(Operand, orEqual: Bool)
    case oneOf(OperandSet)
    case prefix([UInt8])
    /// An array with the element, or a text with the part.
    case contains(Operand, part: [UInt8]?)
    case exists(Bool)
  }

  let path: FieldPath
  private let source: RecordTest
  let test: Test
  /// Whether the records match that the test does not hold for.
  let isNegated: Bool
  /// Of a range whose operand is a time.
  let times: TimeRange?

  init(_ text: String, _ test: RecordTest, _ types: TypedPaths, isNegated: Bool = false) throws {
    let path = types.typed(try FieldPath(text))
    (self.path, source) = (path, test)
    var isNegated = isNegated
    func ranged(_ value: JSONValue) throws -> Operand {
      switch value {
      case .int, .double, .bigNumber, .string: return try Operand(value, of: path)
      default:
        throw SatchelError(.invalid, "\"\(text)\": a range needs a number or a string, not \(value.kind)")
      }
    }
    switch test {
    case .equals(let value): self.test = .equals(try Operand(value, of: path))
    case .notEquals(let value):
      self.test = .equals(try Operand(value, of: path))
      isNegated.toggle()
    case .less(let value): self.test = .less(try ranged(value), orEqual: false)
    case .lessOrEqual(let value): self.test = .less(try ranged(value), orEqual: true)
    case .greater(let value): self.test = .greater(try ranged(value), orEqual: false)
    case .greaterOrEqual(let value): self.test = .greater(try ranged(value), orEqual: true)
    case .oneOf(let values): self.test = .oneOf(try OperandSet(values, of: path))
    case .prefix(let text): self.test = .prefix(path.type?.part(text) ?? Array(text.utf8))
    case .contains(let value):
      self.test = .contains(
        Operand(value), part: value.stringValue.map { path.type?.part($0) ?? Array($0.utf8) })
    case .exists(let wanted): self.test = .exists(wanted)
    }
    self.isNegated = isNegated
    switch test {
    case _ where path.type != nil: times = nil
    case .less(.string(let text)), .lessOrEqual(.string(let text)), .greater(.string(let text)),
      .greaterOrEqual(.string(let text)):
      times = TimeRange(text)
    default: times = nil
    }
  }

  func matches(_ candidate: borrowing Candidate) throws -> Bool {
    if case .elements(let path) = path {
      return try holds(path, candidate.document, candidate.key) != isNegated
    }
    return try holds(try candidate.field(path), candidate.document, candidate.key) != isNegated
  }

  func matches(_ record: IndexedRecord) throws -> Bool {
    let document = DocumentReader(record.document)
    if case .elements(let path) = path { return try holds(path, document, record.key) != isNegated }
    return try holds(record.field(path), document, record.key) != isNegated
  }

  /// Whether the same records match both, as far as that can be seen.
  func isSame(as other: CompiledTest) -> Bool {
    path == other.path && isNegated == other.isNegated && source == other.source
  }

  /// Whether the test holds only for records that have a value at the path.
  var needsValue: Bool {
    if isNegated { return false }
    if case .exists(let wanted) = test { return wanted }
    return true
  }

  /// Whether the test holds for the value of an element.
  private func holds(
    _ path: ElementPath, _ document: DocumentReader, _ key: UnsafeRawBufferPointer
  ) throws -> Bool {
    var (found, isEmpty) = (false, true)
    try path.each(in: document) {
      isEmpty = false
      if case .exists = test { return }
      if !found { found = try holds($0, document, key) }
    }
    if case .exists(let wanted) = test { return isEmpty != wanted }
    return found
  }

  private func holds(
    _ field: FieldValue, _ document: DocumentReader, _ key: UnsafeRawBufferPointer
  ) throws -> Bool {
    if let times, case .document(let path) = path {
      try field.withText { try times.check($0, at: path, id: key) }
    }
    switch test {
    case .equals(let operand): return operand.equals(field, in: document)
    case .less(let operand, let orEqual):
      guard let order = operand.order(of: field) else { return false }
      return order < 0 || orEqual && order == 0
    case .greater(let operand, let orEqual):
      guard let order = operand.order(of: field) else { return false }
      return order > 0 || orEqual && order == 0
    case .oneOf(let operands): return operands.contains(field, in: document)
    case .prefix(let prefix): return field.withText { $0.starts(with: prefix) } ?? false
    case .contains(let operand, let part): return try contains(operand, part, field, document: document)
    case .exists(let wanted):
      if case .missing = field { return !wanted }
      return wanted
    }
  }

  /// The number of elements of an array, and of bytes of a text, after which the call may be stopped: some
  /// 100 µs.
  private static let checkInterval = (elements: 1 << 12, bytes: 1 << 16)

  private func contains(
    _ operand: Operand, _ part: [UInt8]?, _ field: FieldValue, document: DocumentReader
  ) throws -> Bool {
    if case .array(let location) = field {
      var (found, position) = (false, 0)
      try document.elements(of: location) { element in
        found = found || operand.equals(document.field(element), in: document)
        position += 1
        if position % Self.checkInterval.elements == 0 { try InterruptibleCall.check() }
      }
      return found
    }
    guard let part else { return false }
    return try field.withText { text in
      if text.count >= Self.checkInterval.bytes { try InterruptibleCall.check() }
      return text.contains(part)
    } ?? false
  }
}

extension FieldValue {
  /// Calls `body` with the bytes of a string; returns nil for another value.
  func withText<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result? {
    switch self {
    case .string(let text): return try body(text)
    case .ownedString(let text): return try text.withUnsafeBytes(body)
    case .typed(let value): return try value.text.map { try $0.withUnsafeBytes(body) }
    default: return nil
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Returns whether the bytes contain a sequence of bytes, in linear time.
  fileprivate func contains(_ part: [UInt8]) -> Bool {
    part.withUnsafeBytes { satchel_contains(baseAddress, count, $0.baseAddress, $0.count) }
  }
}
