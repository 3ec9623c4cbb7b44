import SatchelCore
import SatchelJSON
import SatchelStorage

/// A parsed branching story: its text, its segments by id, and its analysis.
///
/// Immutable, and safe to use from any number of threads.
// Unchecked: nothing that it references is written after init, except for the hash, which a lock guards.
public final class Story: @unchecked Sendable {
  private let memory: StoryMemory
  package let analysis: StoryAnalysis
  private let hash = Locked<[UInt8]?>(nil)
  /// The folder of its file, in which the files are that it names; nil for a story that was given as a text.
  package let folder: String?

  private init(_ memory: StoryMemory, source: StorySource, folder: String? = nil) throws {
    self.memory = memory
    self.folder = folder
    analysis = StoryAnalysis(try source.table(of: memory.bytes))
  }

  /// Parses a story, sound or not.
  ///
  /// - Parameters:
  ///   - text: a story; it is copied
  ///   - source: the format of the text
  /// - Throws: `SatchelError` `.invalid`, with line, column and cause, when the text is not in this format
  public convenience init(_ text: UnsafeRawBufferPointer, source: StorySource) throws {
    try self.init(StoryMemory(text), source: source)
  }

  /// Parses a story from an array of bytes.
  public convenience init(_ text: [UInt8], source: StorySource) throws {
    try self.init(text, source: source, folder: nil)
  }

  /// Parses the story of a file, or of several whose text was joined.
  ///
  /// - Parameter folder: the folder of the file
  package convenience init(_ text: [UInt8], source: StorySource, folder: String?) throws {
    try self.init(text.withUnsafeBytes { StoryMemory($0) }, source: source, folder: folder)
  }

  /// Parses the story of a file; its text is copied.
  convenience init(_ text: UnsafeRawBufferPointer, source: StorySource, folder: String) throws {
    try self.init(StoryMemory(text), source: source, folder: folder)
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

  /// Whether the file has the member `segments`: one without it may be of another kind.
  package var hasSegmentsMember: Bool {
    analysis.table.segmentsStart != nil
      || analysis.table.faults.contains { $0.code == .wrongType && $0.field == .segments }
  }

  /// The first segment; nil when the story has no segments.
  public var start: StorySegment? { segment(at: 0) }

  /// Returns the segment at an index in the file; nil when the index is out of range.
  public func segment(at index: Int) -> StorySegment? {
    analysis.table.segments.indices.contains(index) ? StorySegment(analysis, index) : nil
  }

  /// Returns the segment with an id, the first one if several have it; nil when no segment has it.
  public func segment(_ id: String) -> StorySegment? { analysis.segment(id).flatMap { segment(at: $0) } }

  /// Checks the story and returns all findings. Each call checks again, and looks for the files that the story names,
  /// if it is from a file or a library.
  public func check() -> StoryReport { StoryReport(analysis, folder: folder) }

  /// Checks the story as `check()` does, with the files that it names in a folder.
  package func check(folder: String) -> StoryReport { StoryReport(analysis, folder: folder) }

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
private final class StoryMemory: @unchecked Sendable {
  private let memory: UnsafeMutableRawBufferPointer
  let bytes: UnsafeRawBufferPointer

  init(_ text: UnsafeRawBufferPointer) {
    memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, text.count), alignment: 16)
    memory.copyMemory(from: text)
    bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[..<text.count])
  }

  deinit { memory.deallocate() }
}
