import SatchelCore
import SatchelJSON

/// A value that is computed from the records that match.
public struct RecordAggregate: Sendable {
  public enum Function: String, Sendable, CaseIterable {
    /// Of numbers; 0 without any. Of a path that is declared as decimal it is exact, and a string.
    case sum
    /// Of values in their order; missing and null values do not count, null when there are no others.
    case min, max
    /// Of numbers; null without any.
    case average
  }

  public var function: Function
  /// As in `RecordFilter.field`.
  public var path: String

  public init(_ function: Function, _ path: String) {
    self.function = function
    self.path = path
  }
}

/// The exact sum of decimal numbers.
struct DecimalSum {
  private var units: Int128 = 0
  /// The number of digits after the decimal point in `units`.
  private var scale = 0
  private static let maxScale = 18

  /// Adds a number.
  ///
  /// - Returns: false, without a change, where the sum does not fit
  mutating func add(_ number: JSONExpansion) -> Bool {
    guard number.digits.count <= 36, abs(number.magnitude) <= 36 else { return false }
    var added = number.digits.reduce(0 as Int128) { $0 * 10 + Int128($1) }
    let places = max(0, number.digits.count - Int(number.magnitude))
    for _ in 0..<max(0, Int(number.magnitude) - number.digits.count) {
      let (next, isOver) = added.multipliedReportingOverflow(by: 10)
      if isOver { return false }
      added = next
    }
    guard places <= Self.maxScale else { return false }
    var sum = units
    let common = max(scale, places)
    for _ in scale..<common {
      let (next, isOver) = sum.multipliedReportingOverflow(by: 10)
      if isOver { return false }
      sum = next
    }
    for _ in places..<common {
      let (next, isOver) = added.multipliedReportingOverflow(by: 10)
      if isOver { return false }
      added = next
    }
    let (next, isOver) = sum.addingReportingOverflow(number.isNegative ? -added : added)
    if isOver { return false }
    (units, scale) = (next, common)
    return true
  }

  /// The sum in its shortest form.
  var text: String {
    var digits = String(units.magnitude)
    if digits.utf8.count <= scale {
      digits = String(repeating: "0", count: scale + 1 - digits.utf8.count) + digits
    }
    if scale > 0 {
      digits.insert(".", at: digits.index(digits.endIndex, offsetBy: -scale))
      while digits.utf8.last == UInt8(ascii: "0") { digits.removeLast() }
      if digits.utf8.last == UInt8(ascii: ".") { digits.removeLast() }
    }
    return (units < 0 ? "-" : "") + digits
  }
}

/// The records with the same values at the paths of a grouping.
public struct RecordGroup: Equatable, Sendable, JSONConvertible {
  /// A value for each path; null also where it is missing.
  public var key: [JSONValue]
  public var count: Int
  /// A value for each aggregate.
  public var values: [JSONValue]

  public var json: JSONValue {
    ["key": .array(key), "count": .int(Int64(count)), "values": .array(values)]
  }
}

/// The state of one aggregate of one group.
final class Accumulator {
  private let function: RecordAggregate.Function
  /// The exact sum of the integers, while there is no overflow.
  private var whole: Int128 = 0
  private var isWhole = true
  /// The sum of the other numbers, and what rounding has lost (Neumaier).
  private var (sum, lost) = (0.0, 0.0)
  private var count = 0
  /// The exact sum of decimal numbers, while it fits.
  private var decimals: DecimalSum?
  private var best: (key: [UInt8], value: JSONValue)?

  /// - Parameter type: of the path
  init(_ function: RecordAggregate.Function, _ type: RecordType?) {
    self.function = function
    if type?.kind == .decimal { decimals = DecimalSum() }
  }

  func add(_ value: FieldValue, _ document: DocumentReader) throws {
    switch function {
    case .sum, .average: addNumber(value)
    case .min, .max: try compare(value, document)
    }
  }

  private func addNumber(_ value: FieldValue) {
    switch value {
    case .int(let number):
      let (next, isOver) = whole.addingReportingOverflow(Int128(number))
      if isOver { add(Double(number)) } else { whole = next }
    case .double(let number): add(number)
    case .bigNumber(let number): add(number.expansion.nearest)
    case .typed(let value):
      guard let number = value.number else { return }
      if decimals?.add(number) != true { decimals = nil }
      add(number.nearest)
    default: return
    }
    count += 1
  }

  private func add(_ number: Double) {
    isWhole = false
    let next = sum + number
    lost += abs(sum) >= abs(number) ? (sum - next) + number : (number - next) + sum
    sum = next
  }

  private func compare(_ value: FieldValue, _ document: DocumentReader) throws {
    var key: [UInt8] = []
    switch value {
    case .missing, .null: return
    default: OrderKey.append(value, descending: false, to: &key)
    }
    if let best {
      let isLess = key.lexicographicallyPrecedes(best.key)
      guard function == .min ? isLess : best.key.lexicographicallyPrecedes(key) else { return }
    }
    best = (key, try value.json(document))
  }

  var value: JSONValue {
    switch function {
    case .sum:
      if let decimals { return .string(decimals.text) }
      return isWhole ? Int64(exactly: whole).map { .int($0) } ?? Self.json(Double(whole)) : Self.json(total)
    case .average: return count == 0 ? .null : Self.json(total / Double(count))
    case .min, .max: return best?.value ?? .null
    }
  }

  private var total: Double { Double(whole) + (sum + (lost.isFinite ? lost : 0)) }

  /// A sum beyond the range of a Double has no JSON.
  private static func json(_ number: Double) -> JSONValue { number.isFinite ? .double(number) : .null }
}

/// The groups of records that a query counts.
final class GroupTable {
  private struct Group {
    var key: [JSONValue]
    var count = 0
    var accumulators: [Accumulator]
  }

  private let paths: [FieldPath]
  private let aggregates: [(function: RecordAggregate.Function, path: FieldPath)]
  private var positions: [[UInt8]: Int] = [:]
  private var groups: [Group] = []

  init(_ paths: [FieldPath], _ aggregates: [(function: RecordAggregate.Function, path: FieldPath)]) {
    (self.paths, self.aggregates) = (paths, aggregates)
    if paths.isEmpty {
      groups = [Group(key: [], accumulators: aggregates.map { Accumulator($0.function, $0.path.type) })]
    }
  }

  /// Adds a record; without aggregates, `count` records with its values at the paths.
  func add(_ candidate: borrowing Candidate, count: Int = 1) throws {
    let position = try self.position(of: candidate)
    groups[position].count += count
    for (number, aggregate) in aggregates.enumerated() {
      try groups[position].accumulators[number].add(
        candidate.field(aggregate.path), candidate.document)
    }
  }

  private func position(of candidate: borrowing Candidate) throws -> Int {
    if paths.isEmpty { return 0 }
    var key: [UInt8] = []
    for path in paths {
      let value = try candidate.field(path)
      // A missing value and null are one group.
      if case .missing = value {
        key.append(ValueKey.null)
      } else {
        OrderKey.append(value, descending: false, to: &key)
      }
      switch value {
      case .array, .object:
        throw SatchelError(
          .invalid,
          "\(path.text): groups are of numbers, strings, Booleans and null, and "
            + "\(String(decoding: candidate.key, as: UTF8.self)) has an array or an object")
      default: break
      }
    }
    if let known = positions[key] { return known }
    let values = try paths.map { try candidate.field($0).json(candidate.document) }
    positions[key] = groups.count
    groups.append(Group(key: values, accumulators: aggregates.map { Accumulator($0.function, $0.path.type) }))
    return groups.count - 1
  }

  /// The groups, in the order of their keys.
  var sorted: [RecordGroup] {
    let order =
      paths.isEmpty
      ? [0] : positions.ordered { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
    return order.map { position in
      let group = groups[position]
      return RecordGroup(key: group.key, count: group.count, values: group.accumulators.map(\.value))
    }
  }
}

extension FieldValue {
  /// Returns the value as JSON; null for a missing one.
  func json(_ document: DocumentReader) throws -> JSONValue {
    switch self {
    case .missing, .null: .null
    case .bool(let value): .bool(value)
    case .int(let value): .int(value)
    case .double(let value): .double(value)
    case .bigNumber(let value): .bigNumber(value)
    case .string(let text): .string(String(decoding: text, as: UTF8.self))
    case .ownedString(let text): .string(String(decoding: text, as: UTF8.self))
    case .array(let location), .object(let location): try document.value(location)
    case .typed(let value): try value.location.map { try document.value($0) } ?? .null
    }
  }
}
