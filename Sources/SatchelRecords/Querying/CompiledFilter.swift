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
    case oneOf([Operand])
    case prefix([UInt8])
    case contains(Operand)
    case exists(Bool)
  }

  let path: FieldPath
  let test: Test

  init(_ path: String, _ test: RecordTest) throws {
    self.path = try FieldPath(path)
    func ranged(_ value: JSONValue) throws -> Operand {
      switch value {
      case .int, .double, .string: return Operand(value)
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
    case .oneOf(let values): self.test = .oneOf(values.map { Operand($0) })
    case .prefix(let text): self.test = .prefix(Array(text.utf8))
    case .contains(let value): self.test = .contains(Operand(value))
    case .exists(let wanted): self.test = .exists(wanted)
    }
  }

  func matches(_ candidate: borrowing Candidate) throws -> Bool {
    let field = try candidate.field(path)
    let document = candidate.document
    switch test {
    case .equals(let operand): return operand.equals(field, in: document)
    case .notEquals(let operand): return !operand.equals(field, in: document)
    case .less(let operand, let orEqual):
      guard let order = operand.order(of: field) else { return false }
      return order < 0 || orEqual && order == 0
    case .greater(let operand, let orEqual):
      guard let order = operand.order(of: field) else { return false }
      return order > 0 || orEqual && order == 0
    case .oneOf(let operands): return operands.contains { $0.equals(field, in: document) }
    case .prefix(let prefix): return field.withText { $0.starts(with: prefix) } ?? false
    case .contains(let operand): return contains(operand, field, document)
    case .exists(let wanted):
      if case .missing = field { return !wanted }
      return wanted
    }
  }

  private func contains(_ operand: Operand, _ field: FieldValue, _ document: DocumentReader) -> Bool {
    if case .array(let location) = field {
      var found = false
      document.elements(of: location) { element in
        found = found || operand.equals(document.field(element), in: document)
      }
      return found
    }
    guard case .string(let part) = operand.content else { return false }
    return field.withText { $0.contains(part) } ?? false
  }
}

extension FieldValue {
  /// Calls `body` with the bytes of a string; returns nil for another value.
  func withText<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result? {
    switch self {
    case .string(let text): return body(text)
    case .ownedString(let text): return text.withUnsafeBytes(body)
    default: return nil
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Returns whether the bytes contain a sequence of bytes.
  fileprivate func contains(_ part: [UInt8]) -> Bool {
    guard let first = part.first else { return true }
    guard part.count <= count else { return false }
    for start in 0...count - part.count where self[start] == first {
      if self[start...].starts(with: part) { return true }
    }
    return false
  }
}
