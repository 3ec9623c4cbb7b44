import SatchelCore
import SatchelJSON
import SatchelStorage

/// The reader's progress in a story.
public struct StoryProgress: Equatable, Sendable, JSONConvertible {
  public typealias Reason = StoryDiff.BrokenPosition.Reason

  /// The id of the story.
  public var story: String
  /// The segment that the reader is at; nil for a story that was not begun.
  public var position: String?
  /// The visited segments, in the order of their first visits.
  public var visited: [String] = []
  /// Those of the visited segments that were endings, in the order of their first visits.
  public var endings: [String] = []
  /// The time of the last move, in Unix milliseconds.
  public var readAt: Int64?
  /// The position that a new version of the story broke, so that the reader was moved to `position`; nil after
  /// the next move.
  public var movedFrom: String?
  /// How that version broke it.
  public var movedReason: Reason?

  /// A JSON object with snake_case keys.
  public var json: JSONValue {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    func texts(_ list: [String]) -> JSONValue { .array(list.map { .string($0) }) }
    return [
      "story": .string(story), "position": text(position), "visited": texts(visited),
      "endings": texts(endings), "read_at": readAt.map { .int($0) } ?? .null, "moved_from": text(movedFrom),
      "moved_reason": text(movedReason?.rawValue),
    ]
  }
}

/// A reading position that a new version of its story broke, and where it was moved.
public struct StoryMove: Equatable, Sendable, JSONConvertible {
  public var story: String
  public var from: String
  public var to: String
  public var reason: StoryProgress.Reason

  public var json: JSONValue {
    [
      "story": .string(story), "from": .string(from), "to": .string(to), "reason": .string(reason.rawValue),
    ]
  }
}

extension StoryLibrary {
  /// Returns how far the reader of a story is, without a position for one that was not begun.
  ///
  /// When the file has changed, a position that the new version breaks is moved to the nearest segment first:
  /// see `StoryProgress.movedFrom`. A read-only store returns it as it was stored.
  ///
  /// - Throws: `.invalid` for an invalid id, `.io`, `.damaged`, `.closed`
  public func progress(of id: String) throws -> StoryProgress {
    try Self.checkName(id)
    try refreshOnce()
    guard try database.has(StorySchema.subject) else { return StoryProgress(story: id) }
    let version = try database.read { try StoryProgressTable(connection: $0).version(of: id) }
    if let version, !database.options.isReadOnly, let hash = try index.hash(of: id), hash != version {
      _ = try repairProgress(of: id)
    }
    return try database.read { try StoryProgressTable(connection: $0).progress(of: id) }
  }

  /// Moves the reader of a story to a segment, which counts as visited; an ending also as reached.
  ///
  /// The store keeps the progress by id: it applies to every library of the store.
  ///
  /// - Returns: the progress after the move
  /// - Throws: `.notFound` when there is no such story or segment; as `story(_:)`; `.readOnly`, `.busy`,
  ///   `.full`
  @discardableResult
  public func move(_ id: String, to segment: String) throws -> StoryProgress {
    let story = try story(id)
    guard let index = story.analysis.segment(segment) else {
      throw Self.noSegment(segment, of: id)
    }
    let isEnding = story.analysis.table.isEnding(index)
    return try database.write { transaction in
      let table = StoryProgressTable(connection: transaction.connection)
      if try table.version(of: id) != story.contentHash {
        _ = try repair(id, story, in: transaction)
        try table.putVersion(of: id, story)
      }
      try table.visit(segment, of: id, isEnding: isEnding)
      try table.put(
        id, position: segment, library: try libraryRow(transaction), readAt: transaction.now, from: nil,
        reason: nil)
      transaction.note(subject: .stories, keys: [id])
      return try table.progress(of: id)
    }
  }

  /// Deletes the position, the visited segments and the endings of a story, so that the reader begins again.
  ///
  /// - Throws: `.invalid` for an invalid id, `.readOnly`, `.busy`, `.full`, `.io`, `.closed`
  public func clearProgress(of id: String) throws {
    try checkOpen()
    try Self.checkName(id)
    try database.write { transaction in
      if try StoryProgressTable(connection: transaction.connection).remove(id) {
        transaction.note(subject: .stories, keys: [id])
      }
    }
  }

  // MARK: New versions

  /// Moves the positions that changed files broke, of stories that were read in this library.
  func repairProgress() throws -> [StoryMove] {
    guard !database.options.isReadOnly, try database.has(StorySchema.subject) else { return [] }
    let stories = try database.read { connection in
      try StoryFileTable(connection: connection).library(directory).map {
        try StoryProgressTable(connection: connection).outdated(in: $0.id)
      } ?? []
    }
    return try stories.compactMap { try repairProgress(of: $0) }
  }

  /// - Returns: the move; nil when the position is not broken, or the file cannot be read
  private func repairProgress(of id: String) throws -> StoryMove? {
    // Not `story(_:)`, which may refresh the library.
    guard let file = try index.file(of: id), let opened = try? StoryDirectory(directory),
      let story = try? Self.read(file, in: opened).story
    else { return nil }
    return try database.write { transaction in
      let table = StoryProgressTable(connection: transaction.connection)
      guard let version = try table.version(of: id), version != story.contentHash else { return nil }
      let move = try repair(id, story, in: transaction)
      try table.putVersion(of: id, story)
      if move != nil { transaction.note(subject: .stories, keys: [id]) }
      return move
    }
  }

  /// Compares the version that a position refers to with a new one, and moves what it breaks.
  private func repair(_ id: String, _ story: Story, in transaction: Transaction) throws -> StoryMove? {
    let table = StoryProgressTable(connection: transaction.connection)
    guard let position = try table.progress(of: id).position, let outline = try table.outline(of: id) else {
      return nil
    }
    // A damaged outline gives no comparison: then only a position that is gone is moved, to the start.
    let old = try (try? Story(outline, source: .json)) ?? Story(Array("{}".utf8), source: .json)
    let relocation = StoryRelocation(old: old.analysis, new: story.analysis)
    for (from, to) in relocation.successors { try table.renameVisit(of: id, from: from, to: to) }
    guard let move = relocation.move(from: position), let index = story.analysis.segment(move.to) else {
      return nil
    }
    try table.visit(move.to, of: id, isEnding: story.analysis.table.isEnding(index))
    try table.put(
      id, position: move.to, library: try libraryRow(transaction), readAt: nil, from: position,
      reason: move.reason)
    return StoryMove(story: id, from: position, to: move.to, reason: move.reason)
  }

  private func libraryRow(_ transaction: Transaction) throws -> Int64 {
    try StoryFileTable(connection: transaction.connection).ensureLibrary(directory)
  }
}
