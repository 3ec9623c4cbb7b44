import CSatchel
import Satchel

/// Reads an options struct of the host field by field.
///
/// The host may have been built with an older or a newer header: fields beyond its `size` have their
/// defaults, and fields that this library does not know must be zero. `Bool` and enum fields are read as
/// integers, since the host's bytes may be invalid values of these types.
struct OptionsReader<Options> {
  private let base: UnsafeRawPointer?
  private let size: Int

  /// The maximum plausible size of an options struct; a larger size means an uninitialised struct.
  private static var maxSize: Int { 1024 }

  /// - Parameter options: nil for all defaults
  /// - Throws: `SatchelError` `.invalid` for an invalid size, and for unknown fields that are set
  init(_ options: UnsafePointer<Options>?) throws {
    guard let options else {
      base = nil
      size = 0
      return
    }
    let raw = UnsafeRawPointer(options)
    let stated = raw.loadUnaligned(as: Int.self)
    guard stated >= MemoryLayout<Int>.size, stated <= Self.maxSize else {
      throw SatchelError(
        .invalid, "options: invalid size \(stated); initialise the struct with its INIT macro")
    }
    for offset in stride(from: MemoryLayout<Options>.size, to: stated, by: 1)
    where raw.load(fromByteOffset: offset, as: UInt8.self) != 0 {
      throw SatchelError(.invalid, "options: a field is set that only a newer version of the library knows")
    }
    base = raw
    size = stated
  }

  @inline(__always)
  func flag(_ field: KeyPath<Options, Bool>, default standard: Bool = false) -> Bool {
    read(field).map { ($0 as UInt8) != 0 } ?? standard
  }

  @inline(__always)
  func number<Number: FixedWidthInteger>(_ field: KeyPath<Options, Number>, default standard: Number)
    -> Number
  {
    read(field) ?? standard
  }

  /// Returns the raw value of an enum field, which may be outside the enum.
  @inline(__always)
  func choice<Choice: RawRepresentable>(_ field: KeyPath<Options, Choice>) -> Choice.RawValue?
  where Choice.RawValue: FixedWidthInteger {
    read(field)
  }

  /// Returns the named policy; nil for SATCHEL_CONFLICT_DEFAULT.
  func conflictPolicy(_ field: KeyPath<Options, satchel_conflict_policy>) throws -> ConflictPolicy? {
    try ConflictPolicy(named: choice(field) ?? SATCHEL_CONFLICT_DEFAULT.rawValue)
  }

  /// Returns the maximum number of parallel operations; nil for 0, the library's default.
  func parallel(_ field: KeyPath<Options, Int32>) throws -> Int? {
    let number = number(field, default: 0)
    guard (0...16).contains(number) else {
      throw SatchelError(.invalid, "options: parallel: \(number) is not in 0 to 16")
    }
    return number == 0 ? nil : Int(number)
  }

  @inline(__always)
  func value<Value>(_ field: KeyPath<Options, Value>) -> Value? { read(field) }

  // Inlined, so that the compiler knows the field's offset; creating a key path at run time takes longer than
  // opening.
  @inline(__always)
  private func read<Value, Result>(_ field: KeyPath<Options, Value>) -> Result? {
    guard let base, let offset = MemoryLayout<Options>.offset(of: field),
      offset + MemoryLayout<Value>.size <= size
    else { return nil }
    return base.loadUnaligned(fromByteOffset: offset, as: Result.self)
  }
}

extension ConflictPolicy {
  /// Converts a `satchel_conflict_policy`; nil for SATCHEL_CONFLICT_DEFAULT.
  init?(named number: satchel_conflict_policy.RawValue) throws {
    switch satchel_conflict_policy(rawValue: number) {
    case SATCHEL_CONFLICT_DEFAULT: return nil
    case SATCHEL_CONFLICT_REMOTE_WINS: self = .remoteWins
    case SATCHEL_CONFLICT_LOCAL_WINS: self = .localWins
    case SATCHEL_CONFLICT_NEWEST_WINS: self = .newestWins
    case SATCHEL_CONFLICT_MERGE: self = .merge
    case SATCHEL_CONFLICT_ASK: self = .ask
    default: throw SatchelError(.invalid, "on_conflict: \(number) is not a satchel_conflict_policy")
    }
  }
}
