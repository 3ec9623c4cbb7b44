import Synchronization

/// The JSON forms of types that have none of their own, or another one than an app wants: `JSONValue(encoding:)`
/// and `decode(as:)` use them wherever such a value occurs.
///
/// A form holds for the whole process. Register it once, before values of the type are encoded. The product
/// SatchelFoundation has forms for types of Foundation.
public enum JSONConversions {
  /// All forms. It is replaced as a whole.
  // Unchecked: immutable.
  private final class Table: @unchecked Sendable {
    var encoders: [ObjectIdentifier: @Sendable (Any) throws -> JSONValue] = [:]
    var decoders: [ObjectIdentifier: @Sendable (JSONValue) throws -> Any] = [:]
  }

  /// The address of the newest table, 0 for none; earlier ones are kept, because a thread may still read them.
  private static let newest = Atomic<UInt>(0)

  private static func table(_ address: UInt) -> Table? {
    UnsafeRawPointer(bitPattern: address).map { Unmanaged<Table>.fromOpaque($0).takeUnretainedValue() }
  }

  private static var table: Table? { table(newest.load(ordering: .acquiring)) }

  /// Registers the JSON form of a type, instead of an earlier one.
  ///
  /// - Parameters:
  ///   - encode: throws for a value that cannot be stored
  ///   - decode: throws for anything that `encode` does not return; the error is reported as a
  ///     `DecodingError` with the coding path
  public static func register<Value>(
    _ type: Value.Type, encode: @escaping @Sendable (Value) throws -> JSONValue,
    decode: @escaping @Sendable (JSONValue) throws -> Value
  ) {
    while true {
      let known = newest.load(ordering: .acquiring)
      let table = Table()
      if let old = Self.table(known) {
        (table.encoders, table.decoders) = (old.encoders, old.decoders)
      }
      table.encoders[ObjectIdentifier(type)] = { value in
        guard let value = value as? Value else { throw JSONError("not a \(type)", pointer: "") }
        return try encode(value)
      }
      table.decoders[ObjectIdentifier(type)] = { try decode($0) }
      let made = Unmanaged.passRetained(table)
      let (exchanged, _) = newest.compareExchange(
        expected: known, desired: UInt(bitPattern: made.toOpaque()), ordering: .acquiringAndReleasing)
      if exchanged { return }
      made.release()
    }
  }

  /// Returns what encodes values of a type; nil when no form is registered.
  static func encoder(_ type: Any.Type) -> (@Sendable (Any) throws -> JSONValue)? {
    table?.encoders[ObjectIdentifier(type)]
  }

  /// Returns what decodes values of a type; nil when no form is registered.
  static func decoder(_ type: Any.Type) -> (@Sendable (JSONValue) throws -> Any)? {
    table?.decoders[ObjectIdentifier(type)]
  }
}

/// A collection without an order.
protocol JSONUnordered {}

extension Set: JSONUnordered {}

extension JSONValue {
  /// The array with its elements in the order of their JSON texts: equal sets are equal documents.
  func sortedByText() throws -> JSONValue {
    guard case .array(let elements) = self else { return self }
    let texts = try elements.map { (text: try $0.serialized(), json: $0) }
    return .array(texts.sorted { $0.text.lexicographicallyPrecedes($1.text) }.map(\.json))
  }
}
