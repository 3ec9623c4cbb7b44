import CScan
import SatchelCore
import SatchelJSON
import SatchelStorage

/// A filter with parsed paths and operands.
indirect enum CompiledFilter: Sendable {
  case test(CompiledTest)
  case all([CompiledFilter])
  case any([CompiledFilter])
  case not(CompiledFilter)

  /// - Throws: `.invalid` for an invalid path, and for a range of values without an order
  init(_ filter: RecordFilter) throws {
    switch filter {
    case .field(let path, let test): self = .test(try CompiledTest(path, test))
    case .all(let parts): self = .all(try parts.map { try CompiledFilter($0) })
    case .any(let parts): self = .any(try parts.map { try CompiledFilter($0) })
    case .not(let part): self = .not(try CompiledFilter(part))
    }
  }

  /// Rejects paths to values that no document has.
  ///
  /// - Throws: `.invalid`
  func check(_ schema: RecordSchemaCheck, of collection: String) throws {
    switch self {
    case .test(let test):
      if case .document(let path) = test.path { try schema.checkPath(path, of: collection) }
    case .all(let parts), .any(let parts):
      for part in parts { try part.check(schema, of: collection) }
    case .not(let part): try part.check(schema, of: collection)
    }
  }

  func matches(_ candidate: borrowing Candidate) throws -> Bool {
    switch self {
    case .test(let test): return try test.matches(candidate)
    case .all(let parts):
      for part in parts where try !part.matches(candidate) { return false }
      return true
    case .any(let parts):
      for part in parts where try part.matches(candidate) { return true }
      return false
    case .not(let part): return try !part.matches(candidate)
    }
  }

  /// Whether every record matches.
  var isEmpty: Bool {
    if case .all(let parts) = self { return parts.allSatisfy(\.isEmpty) }
    return false
  }

  /// Returns the filter without those of the required tests that an access path has proved.
  func without(_ isProved: (CompiledTest) -> Bool) -> CompiledFilter {
    switch self {
    case .test(let test): isProved(test) ? .all([]) : self
    case .all(let parts): .all(parts.map { $0.without(isProved) })
    case .any, .not: self
    }
  }

  /// The tests that must all hold, and whether they are the whole filter.
  var required: (tests: [CompiledTest], isAll: Bool) {
    switch self {
    case .test(let test): return ([test], true)
    case .all(let parts):
      var (tests, isAll): ([CompiledTest], Bool) = ([], true)
      for part in parts {
        let inner = part.required
        tests += inner.tests
        isAll = isAll && inner.isAll
      }
      return (tests, isAll)
    case .any, .not: return ([], false)
    }
  }
}

/// A test of one path.
struct CompiledTest: Sendable {
  enum Test: Sendable {
    case equals(Operand)
    case notEquals(Operand)
    case less(Operand, orEqual: Bool)
    case greater(Operand, orEqual: Bool)
    case oneOf(OperandSet)
    case prefix([UInt8])
    case contains(Operand)
    case exists(Bool)
  }

  let path: FieldPath
  let test: Test
  /// Of a range whose operand is a time.
  let times: TimeRange?

  init(_ path: String, _ test: RecordTest) throws {
    self.path = try FieldPath(path)
    func ranged(_ value: JSONValue) throws -> Operand {
      switch value {
      case .int, .double, .bigNumber, .string: return Operand(value)
      default:
        throw SatchelError(.invalid, "\"\(path)\": a range needs a number or a string, not \(value.kind)")
      }
    }
    switch test {
    case .equals(let value): self.test = .equals(Operand(value))
    case .notEquals(let value): self.test = .notEquals(Operand(value))
    case .less(let value): self.test = .less(try ranged(value), orEqual: false)
    case .lessOrEqual(let value): self.test = .less(try ranged(value), orEqual: true)
    case .greater(let value): self.test = .greater(try ranged(value), orEqual: false)
    case .greaterOrEqual(let value): self.test = .greater(try ranged(value), orEqual: true)
    case .oneOf(let values): self.test = .oneOf(OperandSet(values))
    case .prefix(let text): self.test = .prefix(Array(text.utf8))
    case .contains(let value): self.test = .contains(Operand(value))
    case .exists(let wanted): self.test = .exists(wanted)
    }
    switch test {
    case .less(.string(let text)), .lessOrEqual(.string(let text)), .greater(.string(let text)),
      .greaterOrEqual(.string(let text)):
      times = TimeRange(text)
    default: times = nil
    }
  }

  func matches(_ candidate: borrowing Candidate) throws -> Bool {
    let field = try candidate.field(path)
    let document = candidate.document
    if let times, case .document(let path) = path {
      try field.withText { try times.check($0, at: path, id: candidate.key) }
    }
    switch test {
    case .equals(let operand): return operand.equals(field, in: document)
    case .notEquals(let operand): return !operand.equals(field, in: document)
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
