import CSatchel
import Satchel

/// Reads an options struct of the host field by field.
///
/// The host may have been built with an older or a newer header: fields beyond its `size` have their defaults,
/// and fields that this library does not know must be zero. Bytes are never taken for a `Bool` or an enum
/// before they are looked at.
struct OptionsReader<Options> {
  private let base: UnsafeRawPointer?
  private let size: Int

  /// No options struct ever becomes so large; a larger size is an uninitialised one.
  private static var largest: Int { 1024 }

  /// - Parameter options: nil means all defaults.
  init(_ options: UnsafePointer<Options>?) throws {
    guard let options else {
      base = nil
      size = 0
      return
    }
    let raw = UnsafeRawPointer(options)
    let stated = raw.loadUnaligned(as: Int.self)
    guard stated >= MemoryLayout<Int>.size, stated <= Self.largest else {
      throw SatchelError(.invalid, "options: size \(stated) is impossible; start from the INIT macro")
    }
    for offset in stride(from: MemoryLayout<Options>.size, to: stated, by: 1)
    where raw.load(fromByteOffset: offset, as: UInt8.self) != 0 {
      throw SatchelError(.invalid, "options: set for a newer library than this one")
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

  /// The number of an enum, whatever it is.
  @inline(__always)
  func choice<Choice: RawRepresentable>(_ field: KeyPath<Options, Choice>) -> Choice.RawValue?
  where Choice.RawValue: FixedWidthInteger {
    read(field)
  }

  @inline(__always)
  func value<Value>(_ field: KeyPath<Options, Value>) -> Value? { read(field) }

  // Inlined, so that a field's offset is known when this is compiled; making a key path costs more than opening.
  @inline(__always)
  private func read<Value, Result>(_ field: KeyPath<Options, Value>) -> Result? {
    guard let base, let offset = MemoryLayout<Options>.offset(of: field),
      offset + MemoryLayout<Value>.size <= size
    else { return nil }
    return base.loadUnaligned(fromByteOffset: offset, as: Result.self)
  }
}
