#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A stretch of a story's source; or, where the source spells it with escapes, of the text's own arena.
package struct StorySlice: Equatable, Sendable {
  static let arenaBit: UInt32 = 1 << 31

  package var start: UInt32
  package var count: UInt32

  package static let none = StorySlice(start: 0, count: 0)

  var isInArena: Bool { start & Self.arenaBit != 0 }
}

/// The bytes that a story's slices refer to: the source, which is lent, and what had to be resolved from it.
///
/// Ids are compared by their bytes, so that one without escapes costs no copy and no `String`.
package struct StoryText {
  /// The largest source whose offsets leave the arena's bit free.
  package static let maximumSize = Int(Int32.max) - 1

  let source: UnsafeRawBufferPointer
  private(set) var arena = StoryArena()
  /// Where in the source each slice of the arena begins.
  private var origins: [UInt32: UInt32] = [:]

  init(_ source: UnsafeRawBufferPointer) { self.source = source }

  /// The bytes of a slice; only valid while the source and this text live.
  @inline(__always)
  func bytes(_ slice: StorySlice) -> UnsafeRawBufferPointer {
    let base = slice.isInArena ? arena.base : source.baseAddress
    guard let base else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return UnsafeRawBufferPointer(
      start: base + Int(slice.start & ~StorySlice.arenaBit), count: Int(slice.count))
  }

  func string(_ slice: StorySlice) -> String { String(decoding: bytes(slice), as: UTF8.self) }

  @inline(__always)
  func areEqual(_ one: StorySlice, _ other: StorySlice) -> Bool { holds(one, bytes(other)) }

  /// Whether a slice has just these bytes.
  @inline(__always)
  func holds(_ slice: StorySlice, _ other: UnsafeRawBufferPointer) -> Bool {
    guard Int(slice.count) == other.count else { return false }
    guard let left = bytes(slice).baseAddress, let right = other.baseAddress else { return other.isEmpty }
    return memcmp(left, right, other.count) == 0
  }

  /// Where a slice stands in the source.
  func origin(of slice: StorySlice) -> Int {
    Int(slice.isInArena ? origins[slice.start] ?? 0 : slice.start)
  }

  /// Keeps text that the source spells otherwise.
  mutating func keep(_ text: String, from origin: Int) -> StorySlice {
    guard let start = arena.append(Array(text.utf8)) else { return .none }
    let slice = StorySlice(start: UInt32(start) | StorySlice.arenaBit, count: UInt32(text.utf8.count))
    origins[slice.start] = UInt32(truncatingIfNeeded: origin)
    return slice
  }
}

/// Memory that grows and is addressed by offsets.
// Unchecked: written only while a story is being read, by the one thread that reads it.
final class StoryArena: @unchecked Sendable {
  private(set) var base: UnsafeRawPointer?
  private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var used = 0

  /// - Returns: where the bytes begin; nil when the arena cannot be addressed further.
  func append(_ bytes: [UInt8]) -> Int? {
    guard used + bytes.count <= StoryText.maximumSize else { return nil }
    if used + bytes.count > memory.count || base == nil {
      let grown = UnsafeMutableRawBufferPointer.allocate(
        byteCount: max(4096, (used + bytes.count) * 2), alignment: 16)
      grown.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[..<used]))
      memory.deallocate()
      memory = grown
      base = UnsafeRawPointer(grown.baseAddress)
    }
    let start = used
    bytes.withUnsafeBytes {
      UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + bytes.count]).copyMemory(from: $0)
    }
    used += bytes.count
    return start
  }

  deinit { memory.deallocate() }
}
