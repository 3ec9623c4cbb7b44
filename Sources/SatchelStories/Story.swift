import SatchelJSON
import SatchelStorage

/// A branching story that was read: its text, its segments by id, and what can be said of it.
///
/// Immutable, and safe to use from any number of threads.
// Unchecked: what it refers to is never written after init.
public final class Story: @unchecked Sendable {
  private let memory: StoryMemory
  let analysis: StoryAnalysis

  private init(_ memory: StoryMemory, source: StorySource) throws {
    self.memory = memory
    analysis = StoryAnalysis(try source.read(memory.bytes))
  }

  /// Reads a story, sound or not.
  ///
  /// - Parameters:
  ///   - text: a story as JSON, or Twee 3; it is copied
  ///   - source: what it is written in
  /// - Throws: `SatchelError` `.invalid` with line, column and cause where the text is neither.
  public convenience init(_ text: UnsafeRawBufferPointer, source: StorySource = .automatic) throws {
    try self.init(StoryMemory(text), source: source)
  }

  /// As for lent bytes.
  public convenience init(_ text: [UInt8], source: StorySource = .automatic) throws {
    try self.init(text.withUnsafeBytes { StoryMemory($0) }, source: source)
  }

  /// Bytes of the text.
  public var byteCount: Int { memory.bytes.count }

  /// The text as it was read.
  public var text: [UInt8] { Array(memory.bytes) }

  /// Lends the text without a copy.
  public func withText<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try body(memory.bytes)
  }

  /// What is said of the whole story.
  public var header: StoryHeader { StoryHeader(analysis.table) }

  /// How many segments the file has.
  public var segmentCount: Int { analysis.table.segments.count }

  /// The first segment; nil when there is none.
  public var start: StorySegment? { segment(at: 0) }

  /// A segment by its index in the file; nil when there is none.
  public func segment(at index: Int) -> StorySegment? {
    analysis.table.segments.indices.contains(index) ? StorySegment(analysis, index) : nil
  }

  /// A segment by its id; of several with one id the first.
  public func segment(_ id: String) -> StorySegment? { analysis.segment(id).flatMap { segment(at: $0) } }

  /// All that is wrong with it; made anew by each call.
  public func check() -> StoryReport { StoryReport(analysis) }

  /// Facts; made anew by each call.
  public var statistics: StoryStatistics { StoryStatistics(analysis) }

  /// How many different ways lead from the start to an ending.
  public var pathCount: PathCount { PathCounter(analysis).count }

  /// That number in decimal digits, exact whatever its size; nil for unbounded.
  ///
  /// Time grows with segments plus choices, times the digits of the answer.
  public var exactPathCount: String? { PathCounter(analysis).digits }
}

extension Story {
  /// What it says of itself, and "statistics".
  public var json: JSONValue {
    var members = header.json.objectValue ?? JSONObject()
    members["statistics"] = statistics.json
    return .object(members)
  }
}

/// A copy of a text, freed with the last reference.
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
