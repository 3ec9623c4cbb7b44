import SatchelCore
import SatchelJSON
import SatchelStorage

/// The type of the values at a path: it decides how queries and indexes compare them and put them in order, and which are
/// equal.
public struct RecordType: Equatable, Sendable, JSONConvertible {
  public enum Kind: String, Sendable, CaseIterable {
    /// Strings in any form of ISO 8601 are instants: "2027-03-05T10:30+01:00" equals "20270305T0930Z".
    case time
    /// Numbers, and strings that are numbers, by their exact decimal value: "2.50" equals 2.5, and precedes "10.00".
    case decimal
    /// Numbers. Values of another kind keep their order, and queries cannot ask for them.
    case number
    /// Strings.
    case text
  }

  /// The differences of texts that a comparison ignores.
  public enum Fold: String, Sendable, CaseIterable {
    case `case`
    /// "creme" equals "crème".
    case accent
  }

  public enum Order: String, Sendable, CaseIterable {
    /// Of the bytes of UTF-8, which is that of the scalars.
    case bytes
    /// Unicode's root order (UTS #10): "Äpfel" is between "Apfel" and "Birne".
    case unicode
  }

  public let kind: Kind
  /// Of texts.
  public let fold: Set<Fold>
  /// Of texts.
  public let order: Order

  private init(_ kind: Kind, fold: Set<Fold> = [], order: Order = .bytes) {
    (self.kind, self.fold, self.order) = (kind, fold, order)
  }

  public static let time = RecordType(.time)
  public static let decimal = RecordType(.decimal)
  public static let number = RecordType(.number)
  public static func text(fold: Set<Fold> = [], order: Order = .bytes) -> RecordType {
    RecordType(.text, fold: fold, order: order)
  }

  /// "time", "decimal", "number", or `{"type": "text", "fold", "order"}`.
  public var json: JSONValue {
    guard !fold.isEmpty || order != .bytes else { return .string(kind.rawValue) }
    var members: JSONObject = ["type": .string(kind.rawValue)]
    let names = Fold.allCases.filter(fold.contains).map { JSONValue.string($0.rawValue) }
    if !names.isEmpty { members["fold"] = .array(names) }
    if order != .bytes { members["order"] = .string(order.rawValue) }
    return .object(members)
  }

  /// Reads a type by its name, or as an object with the members `type`, `fold` and `order`.
  init(_ json: JSONValue, at pointer: String) throws {
    switch json {
    case .string: try self.init(["type": json], at: pointer)
    case .object(let members):
      guard let name = members["type"]?.stringValue, let kind = Kind(rawValue: name) else {
        throw JSONError(
          "must be a type: time, decimal, number or text, or {\"type\", \"fold\", \"order\"}",
          pointer: pointer)
      }
      var (fold, order): (Set<Fold>, Order) = ([], .bytes)
      for (key, value) in members where key != "type" && !value.isNull {
        switch (key, value) {
        case ("fold", _) where kind == .text: fold = try Self.fold(value, at: pointer + "/fold")
        case ("order", .string(let text)) where kind == .text:
          guard let known = Order(rawValue: text) else { fallthrough }
          order = known
        case ("order", _) where kind == .text:
          throw JSONError("must be bytes or unicode", pointer: pointer + "/order")
        case ("fold", _), ("order", _):
          throw JSONError("only a text has it", pointer: "\(pointer)/\(key)")
        default:
          throw JSONError("unknown member of a type", pointer: pointer + "/" + JSONPointer.escaped(key))
        }
      }
      self.init(kind, fold: fold, order: order)
    default:
      throw JSONError("must be a type: time, decimal, number or text", pointer: pointer)
    }
  }

  private static func fold(_ json: JSONValue, at pointer: String) throws -> Set<Fold> {
    let names = json.arrayValue ?? [json]
    return try Set(
      names.map {
        guard let fold = $0.stringValue.flatMap({ Fold(rawValue: $0) }) else {
          throw JSONError("must be case, accent, or an array of them", pointer: pointer)
        }
        return fold
      })
  }

  /// Whether keys depend on tables of Unicode.
  var hasTable: Bool { !fold.isEmpty || order == .unicode }

  private var textFold: TextFold {
    var result: TextFold = []
    if fold.contains(.case) { result.insert(.case) }
    if fold.contains(.accent) { result.insert(.accent) }
    return result
  }
}

/// A value in the form in which its type compares it.
final class TypedValue: Sendable {
  /// The kind of value that it is: its place among those of other kinds, as of `ValueKey`.
  let tag: UInt8
  /// The order of values of one kind is that of these bytes.
  let key: [UInt8]
  /// The text in which prefixes and parts are looked for; nil for a number.
  let text: [UInt8]?
  /// Of a decimal number.
  let number: JSONExpansion?
  /// Where the value is in the document; nil for an operand.
  let location: DocumentReader.Location?

  init(
    _ tag: UInt8, _ key: [UInt8], text: [UInt8]?, number: JSONExpansion? = nil,
    _ location: DocumentReader.Location?
  ) {
    (self.tag, self.key, self.text, self.number, self.location) = (tag, key, text, number, location)
  }

  /// Of a time, in Unix milliseconds, rounded up; nil for another value, and for a time outside of 64 bits.
  var milliseconds: Int64? {
    guard tag == ValueKey.time, key.count >= 8 else { return nil }
    let seconds = Int64(bitPattern: key.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } ^ 1 << 63)
    var rest: Int64 = 0
    for position in 8..<11 {
      rest = rest * 10 + (position < key.count ? Int64(key[position]) - Int64(UInt8(ascii: "0")) : 0)
    }
    if key.count > 11 { rest += 1 }
    let (whole, isTooLarge) = seconds.multipliedReportingOverflow(by: 1000)
    let (time, overflows) = whole.addingReportingOverflow(rest)
    return isTooLarge || overflows ? nil : time
  }
}

extension RecordType {
  /// Returns the form of a value by which it is compared; the value itself where the type does not say anything about it.
  func value(_ field: FieldValue, in document: DocumentReader, at location: DocumentReader.Location)
    -> FieldValue
  {
    switch (kind, field) {
    case (.text, .string(let text)): typed(text, location).map { .typed($0) } ?? field
    case (.text, .ownedString(let text)), (.time, .ownedString(let text)), (.decimal, .ownedString(let text)):
      text.withUnsafeBytes { typed($0, location) }.map { .typed($0) } ?? field
    case (.time, .string(let text)), (.decimal, .string(let text)):
      typed(text, location).map { .typed($0) } ?? field
    case (.decimal, .int), (.decimal, .double), (.decimal, .bigNumber):
      Self.decimal(document.slice(location), text: nil, location).map { .typed($0) } ?? field
    default: field
    }
  }

  /// Returns the form of a text; nil for one that is not of the type.
  private func typed(_ text: UnsafeRawBufferPointer, _ location: DocumentReader.Location?) -> TypedValue? {
    switch kind {
    case .text:
      var folded: [UInt8] = []
      if hasTable { textFold.folded(text, into: &folded) } else { folded = Array(text) }
      guard order == .unicode else { return TypedValue(ValueKey.string, folded, text: folded, location) }
      var key: [UInt8] = []
      folded.withUnsafeBytes { RootOrder.append(keyOf: $0, to: &key) }
      return TypedValue(ValueKey.string, key, text: folded, location)
    case .time:
      guard text.count <= Self.longestTime,
        let time = ISODateTime(anyForm: String(decoding: text, as: UTF8.self))
      else { return nil }
      return TypedValue(
        ValueKey.time, Self.timeKey(time.seconds, time.fraction), text: Array(text), location)
    case .decimal:
      return Self.decimal(text, text: Array(text), location)
    case .number: return nil
    }
  }

  /// The number of bytes of a text that may be a time: no clock has more digits.
  static let longestTime = 100

  private static func timeKey(_ seconds: Int64, _ fraction: some Sequence<UInt8>) -> [UInt8] {
    var key: [UInt8] = []
    withUnsafeBytes(of: (UInt64(bitPattern: seconds) ^ 1 << 63).bigEndian) { key.append(contentsOf: $0) }
    key.append(contentsOf: fraction)
    while key.count > 8, key.last == UInt8(ascii: "0") { key.removeLast() }
    return key
  }

  /// Returns the key of a time in Unix milliseconds.
  static func timeKey(of milliseconds: Int64) -> [UInt8] {
    let (seconds, rest) = ISODateTime.floored(milliseconds, by: 1000)
    return timeKey(seconds, ISODateTime.padded(rest, 3).utf8)
  }

  /// Returns a decimal number; nil for another text. Its key is its sign, its magnitude and its digits, all of them inverted
  /// for a negative one.
  private static func decimal(
    _ number: UnsafeRawBufferPointer, text: [UInt8]?, _ location: DocumentReader.Location?
  ) -> TypedValue? {
    guard let exact = JSONExpansion(decimal: number) else { return nil }
    var key: [UInt8] = [exact.digits.isEmpty ? 1 : exact.isNegative ? 0 : 2]
    if !exact.digits.isEmpty {
      withUnsafeBytes(of: (UInt64(bitPattern: exact.magnitude) ^ 1 << 63).bigEndian) {
        key.append(contentsOf: $0)
      }
      // The end sorts before any digit.
      key.append(contentsOf: exact.digits.lazy.map { $0 + 1 })
      key.append(0)
    }
    if exact.isNegative { for index in 1..<key.count { key[index] = ~key[index] } }
    return TypedValue(ValueKey.number, key, text: text, number: exact, location)
  }

  /// Returns the form of a value that a query compares with values of the type.
  ///
  /// - Returns: nil for a value that is compared as it is
  /// - Throws: `.invalid` for one that no value of the type equals
  func operand(_ value: JSONValue, at path: String) throws -> TypedValue? {
    let found: TypedValue?
    switch (kind, value) {
    case (_, .null), (_, .bool), (_, .array), (_, .object), (.number, .int), (.number, .double),
      (.number, .bigNumber):
      return nil
    case (.decimal, .int(let number)): found = Array(String(number).utf8).withUnsafeBytes { typed($0, nil) }
    case (.decimal, .double), (.decimal, .bigNumber):
      found = try value.serialized().withUnsafeBytes { typed($0, nil) }
    case (_, .string(let text)): found = Array(text.utf8).withUnsafeBytes { typed($0, nil) }
    default: found = nil
    }
    guard let found else {
      throw SatchelError(
        .invalid, "\"\(path)\" is declared as \(kind.rawValue): \(try value.text) is not")
    }
    return found
  }

  /// Returns a prefix or a part of a text in the form of the values' texts.
  func part(_ text: String) -> [UInt8] {
    guard kind == .text, hasTable else { return Array(text.utf8) }
    var folded: [UInt8] = []
    Array(text.utf8).withUnsafeBytes { textFold.folded($0, into: &folded) }
    return folded
  }
}

/// The types of a collection's paths.
struct TypedPaths: Sendable {
  private var types: [(path: FieldPath, type: RecordType)] = []

  static let none = TypedPaths()

  private init() {}

  /// - Throws: `.invalid` for an invalid path, for a field of the records, and for a path that is declared twice
  init(_ declared: [String: RecordType]) throws {
    for (text, type) in declared.ordered(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      let path = try FieldPath(text)
      guard !path.isOfRecord else {
        throw SatchelError(.invalid, "\"\(text)\" is a field of every record: it has its type")
      }
      guard self[path] == nil else {
        throw SatchelError(.invalid, "the type of \"\(text)\" is declared twice")
      }
      types.append((path, type))
    }
  }

  var isEmpty: Bool { types.isEmpty }
  var paths: [FieldPath] { types.map(\.path) }

  subscript(path: FieldPath) -> RecordType? { types.first { $0.path == path }?.type }

  /// Returns a path with its type.
  func typed(_ path: FieldPath) -> FieldPath { self[path].map { path.typed($0) } ?? path }
}
