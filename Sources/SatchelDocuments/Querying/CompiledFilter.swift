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

  /// - Throws: `.invalid` for an invalid path, and for a range of values without an order
  init(_ filter: RecordFilter, isNegated: Bool = false) throws {
    switch filter {
    case .field(let path, let test): node = .test(try CompiledTest(path, test, isNegated: isNegated))
    case .all(let parts):
      let parts = try parts.map { try CompiledFilter($0, isNegated: isNegated) }
      node = isNegated ? .any(parts) : .all(parts)
    case .any(let parts):
      let parts = try parts.map { try CompiledFilter($0, isNegated: isNegated) }
      node = isNegated ? .all(parts) : .any(parts)
    case .not(let part): node = try CompiledFilter(part, isNegated: !isNegated).node
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
    case contains(Operand)
    case exists(Bool)
  }

  let path: FieldPath
  let test: Test
  /// Whether the records match that the test does not hold for.
  let isNegated: Bool
  /// Of a range whose operand is a time.
  let times: TimeRange?

  init(_ path: String, _ test: RecordTest, isNegated: Bool = false) throws {
    self.path = try FieldPath(path)
    var isNegated = isNegated
    func ranged(_ value: JSONValue) throws -> Operand {
      switch value {
      case .int, .double, .bigNumber, .string: return Operand(value)
      default:
        throw SatchelError(.invalid, "\"\(path)\": a range needs a number or a string, not \(value.kind)")
      }
    }
    switch test {
    case .equals(let value): self.test = .equals(Operand(value))
    case .notEquals(let value):
      self.test = .equals(Operand(value))
      isNegated.toggle()
    case .less(let value): self.test = .less(try ranged(value), orEqual: false)
    case .lessOrEqual(let value): self.test = .less(try ranged(value), orEqual: true)
    case .greater(let value): self.test = .greater(try ranged(value), orEqual: false)
    case .greaterOrEqual(let value): self.test = .greater(try ranged(value), orEqual: true)
    case .oneOf(let values): self.test = .oneOf(OperandSet(values))
    case .prefix(let text): self.test = .prefix(Array(text.utf8))
    case .contains(let value): self.test = .contains(Operand(value))
    case .exists(let wanted): self.test = .exists(wanted)
    }
    self.isNegated = isNegated
    switch test {
    case .less(.string(let text)), .lessOrEqual(.string(let text)), .greater(.string(let text)),
      .greaterOrEqual(.string(let text)):
      times = TimeRange(text)
    default: times = nil
    }
  }

  func matches(_ candidate: borrowing Candidate) throws -> Bool { try holds(candidate) != isNegated }

  private func holds(_ candidate: borrowing Candidate) throws -> Bool {
    let field = try candidate.field(path)
    let document = candidate.document
    if let times, case .document(let path) = path {
      try field.withText { try times.check($0, at: path, id: candidate.key) }
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
    case .contains(let operand): return try contains(operand, field, document: document)
    case .exists(let wanted):
      if case .missing = field { return !wanted }
      return wanted
    }
  }

  /// The number of elements of an array, and of bytes of a text, after which the call may be stopped: some
  /// 100 µs.
  private static let checkInterval = (elements: 1 << 12, bytes: 1 << 16)

  private func contains(
    _ operand: Operand, _ field: FieldValue, document: DocumentReader
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
    guard case .string(let part) = operand.content else { return false }
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
