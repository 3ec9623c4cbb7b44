#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A range of a story's source, or of the arena when the source has escapes.
package struct StorySlice: Equatable, Sendable {
  static let arenaBit: UInt32 = 1 << 31

  package var start: UInt32
  package var count: UInt32

  package init(start: UInt32, count: UInt32) { (self.start, self.count) = (start, count) }

  package static let none = StorySlice(start: 0, count: 0)

  package var isInArena: Bool { start & Self.arenaBit != 0 }
}

/// The bytes that a story's slices reference: the source, and an arena with resolved escapes.
///
/// Ids are compared by bytes, so that an id without escapes needs no copy and no `String`.
package struct StoryText {
  /// The maximum size of a source whose offsets do not use the arena bit.
  package static let maximumSize = Int(Int32.max) - 1

  let source: UnsafeRawBufferPointer
  /// Keeps the bytes of the source; nil when the story's file does.
  private let owner: AnyObject?
  private(set) var arena = StoryArena()
  /// The offset in the source of each slice in the arena.
  private var origins: [UInt32: UInt32] = [:]

  package init(_ source: UnsafeRawBufferPointer, owner: AnyObject? = nil) {
    (self.source, self.owner) = (source, owner)
  }

  /// Returns the bytes of a slice, which are valid while the source and this text exist.
  @inline(__always)
  package func bytes(_ slice: StorySlice) -> UnsafeRawBufferPointer {
    let base = slice.isInArena ? arena.base : source.baseAddress
    guard let base else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return UnsafeRawBufferPointer(
      start: base + Int(slice.start & ~StorySlice.arenaBit), count: Int(slice.count))
  }

  package func string(_ slice: StorySlice) -> String { String(decoding: bytes(slice), as: UTF8.self) }

  @inline(__always)
  func haveSameBytes(_ one: StorySlice, _ other: StorySlice) -> Bool { hasBytes(one, bytes(other)) }

  /// Whether a slice has exactly these bytes.
  @inline(__always)
  func hasBytes(_ slice: StorySlice, _ other: UnsafeRawBufferPointer) -> Bool {
    guard Int(slice.count) == other.count else { return false }
    guard let left = bytes(slice).baseAddress, let right = other.baseAddress else { return other.isEmpty }
    return memcmp(left, right, other.count) == 0
  }

  /// Returns the offset of a slice in the source.
  func origin(of slice: StorySlice) -> Int {
    Int(slice.isInArena ? origins[slice.start] ?? 0 : slice.start)
  }

  /// Stores a string that the source has in another form, such as with escapes.
  package mutating func keep(_ text: String, from origin: Int) -> StorySlice {
    guard let start = arena.append(Array(text.utf8)) else { return .none }
    let slice = StorySlice(start: UInt32(start) | StorySlice.arenaBit, count: UInt32(text.utf8.count))
    origins[slice.start] = UInt32(truncatingIfNeeded: origin)
    return slice
  }
}

/// A growing buffer that is addressed by offsets.
// Unchecked: written only by the thread that reads the story, while it reads.
final class StoryArena: @unchecked Sendable {
  private(set) var base: UnsafeRawPointer?
  private var memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
  private var used = 0

  /// Appends bytes.
  ///
  /// - Returns: the offset of the bytes; nil when the arena exceeds the maximum size
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
