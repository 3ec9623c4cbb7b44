import SatchelCore
import SatchelJSON
import SatchelStorage

/// A parsed branching story: its text, its segments by id, and its analysis.
///
/// Immutable, and safe to use from any number of threads.
// Unchecked: nothing that it references is written after init, except for the hash, which a lock guards.
public final class Story: @unchecked Sendable {
  private let memory: StoryMemory
  let analysis: StoryAnalysis
  private let hash = Locked<[UInt8]?>(nil)

  init(_ memory: StoryMemory, source: StorySource, files: [TweeGame.File] = []) throws {
    self.memory = memory
    var table = try source.read(memory.bytes)
    table.files = files
    for file in files where file.hasByteOrderMark { table.noteByteOrderMark(at: file.start) }
    analysis = StoryAnalysis(table)
  }

  /// Parses a story, sound or not.
  ///
  /// - Parameters:
  ///   - text: a story as JSON or Twee 3; it is copied
  ///   - source: the format of the text
  /// - Throws: `SatchelError` `.invalid`, with line, column and cause, when the text is neither
  public convenience init(_ text: UnsafeRawBufferPointer, source: StorySource = .automatic) throws {
    try self.init(StoryMemory(text), source: source)
  }

  /// Parses a story from an array of bytes.
  public convenience init(_ text: [UInt8], source: StorySource = .automatic) throws {
    try self.init(text.withUnsafeBytes { StoryMemory($0) }, source: source)
  }

  /// The size of the text in bytes.
  public var byteCount: Int { analysis.table.text.source.count }

  /// A copy of the text, without a byte-order mark.
  public var text: [UInt8] { withText { Array($0) } }

  /// Calls `body` with the bytes of the text, without a copy. The buffer is valid only inside `body`.
  public func withText<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try body(StorySource.withoutByteOrderMark(memory.bytes))
  }

  /// The SHA-256 of the file's content.
  var contentHash: [UInt8] {
    hash.withLock { hash in
      if let hash { return hash }
      let digest = SHA256.digest(memory.bytes)
      hash = digest
      return digest
    }
  }

  /// The metadata of the story.
  public var header: StoryHeader { StoryHeader(analysis.table) }

  /// The number of segments in the file.
  public var segmentCount: Int { analysis.table.segments.count }

  /// The first segment; nil when the story has no segments.
  public var start: StorySegment? { segment(at: 0) }

  /// Returns the segment at an index in the file; nil when the index is out of range.
  public func segment(at index: Int) -> StorySegment? {
    analysis.table.segments.indices.contains(index) ? StorySegment(analysis, index) : nil
  }

  /// Returns the segment with an id, the first one if several have it; nil when no segment has it.
  public func segment(_ id: String) -> StorySegment? { analysis.segment(id).flatMap { segment(at: $0) } }

  /// Checks the story and returns all findings. Each call checks again.
  public func check() -> StoryReport { StoryReport(analysis) }

  /// The statistics of the story. Each access computes them again.
  public var statistics: StoryStatistics { StoryStatistics(analysis) }

  /// The number of different paths from the start to an ending.
  public var pathCount: PathCount { PathCounter(analysis).count }

  /// The exact number of paths in decimal digits; nil for unbounded.
  ///
  /// The time is proportional to segments plus choices, times the digits of the result.
  public var exactPathCount: String? { PathCounter(analysis).digits }
}

extension Story {
  /// The members of `header.json`, and "statistics".
  public var json: JSONValue {
    var members = header.json.objectValue ?? JSONObject()
    members["statistics"] = statistics.json
    return .object(members)
  }
}

/// A copy of a text that is freed with its last reference.
// Unchecked: never written after init.
final class StoryMemory: @unchecked Sendable {
  private let memory: UnsafeMutableRawBufferPointer
  let bytes: UnsafeRawBufferPointer

  init(_ text: UnsafeRawBufferPointer) {
    memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, text.count), alignment: 16)
    memory.copyMemory(from: text)
    bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[..<text.count])
  }

  deinit { memory.deallocate() }
}

/// The format of a story's text.
public enum StorySource: Int32, Sendable, CaseIterable {
  /// Detected: JSON when the text starts with a brace or bracket, or when no line starts with the "::" of a
  /// passage; Twee otherwise.
  case automatic = 0
  /// The story format of this library.
  case json = 1
  /// Twee 3, the interchange format of Twine.
  case twee = 2

  /// Parses a text. A byte-order mark is accepted, and noted; offsets count from the byte after it.
  func read(_ text: UnsafeRawBufferPointer) throws -> StoryTable {
    let body = Self.withoutByteOrderMark(text)
    var table =
      switch self {
      case .json: try StoryReader.read(body)
      case .twee: try TweeReader.read(body)
      case .automatic: try Self.isTwee(body) ? TweeReader.read(body) : StoryReader.read(body)
      }
    if body.count < text.count { table.noteByteOrderMark(at: 0) }
    return table
  }

  /// Returns a text without the byte-order mark (U+FEFF) that it may start with.
  static func withoutByteOrderMark(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    text.starts(with: byteOrderMark) ? UnsafeRawBufferPointer(rebasing: text.dropFirst(3)) : text
  }

  static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  private static func isTwee(_ text: UnsafeRawBufferPointer) -> Bool {
    let rest = text.drop { $0 <= 0x20 }
    if rest.starts(with: "::".utf8) { return true }
    // Some tools write a note before the first passage. A story in JSON starts with a brace.
    guard let first = rest.first, first != UInt8(ascii: "{"), first != UInt8(ascii: "[") else { return false }
    return rest.indices.contains { index in
      rest[index] == UInt8(ascii: "\n") && rest[(index + 1)...].starts(with: "::".utf8)
    }
  }
}
