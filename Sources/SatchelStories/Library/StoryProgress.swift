import SatchelCore
import SatchelJSON
import SatchelState
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
  /// A position that the version of the file breaks is moved to the nearest segment: see `StoryProgress.movedFrom`.
  /// Nothing is written for that, so that devices with different versions do not disturb each other.
  ///
  /// - Throws: `.invalid` for an invalid id, `.io`, `.damaged`, `.closed`
  public func progress(of id: String) throws -> StoryProgress {
    try Self.checkName(id)
    try refreshOnce()
    return try relocated(id).progress(of: id)
  }

  /// Moves the reader of a story to a segment, which counts as visited; an ending also as reached.
  ///
  /// The state keeps the progress by the library's name and the story's id, and saves it like other state: after a short
  /// delay, by `Store.flush()`, and when the store is closed.
  ///
  /// - Returns: the progress after the move
  /// - Throws: `.notFound` when there is no such story or segment; as `story(_:)`; `.readOnly`
  @discardableResult
  public func move(_ id: String, to segment: String) throws -> StoryProgress {
    let story = try story(id)
    guard let index = story.analysis.segment(segment) else {
      throw Self.noSegment(segment, of: id)
    }
    let version = story.contentHash.hexadecimal
    var progress = try stored(id)
    if progress.version != version || outlines.withLock({ $0[StoryName(id)] != version }) {
      try progress.rewrite(for: story, version, of: id, in: readerState)
      try readerState.keepOutline(of: story, version, as: id)
      outlines.withLock { $0[StoryName(id)] = version }
    }
    let isEnding = story.analysis.table.isEnding(index)
    try progress.move(to: segment, isEnding: isEnding, version: version, of: id, in: readerState)
    return progress.progress(of: id)
  }

  /// Deletes the position, the visited segments and the endings of a story, so that the reader begins again.
  ///
  /// - Throws: `.invalid` for an invalid id, `.readOnly`, `.io`, `.closed`
  public func clearProgress(of id: String) throws {
    try checkOpen()
    try Self.checkName(id)
    for part in [StoredProgress.position, StoredProgress.outline]
    where try readerState.value(part, of: id) != nil { try readerState.remove(part, of: id) }
    let visited = readerState.list(StoredProgress.visited, of: id)
    if try !visited.items().isEmpty { try visited.clear() }
    outlines.withLock { $0[StoryName(id)] = nil }
  }

  /// Reads the progress in a story, unless no state has changed since it was read last.
  private func stored(_ id: String) throws -> StoredProgress {
    let version = try readerState.version()
    if let latest = latestProgress.withLock({ $0 }), latest.version == version, latest.story == StoryName(id)
    {
      return latest.progress
    }
    let progress = try StoredProgress(of: id, in: readerState)
    latestProgress.withLock { $0 = version.map { ($0, StoryName(id), progress) } }
    return progress
  }

  // MARK: New versions

  /// Returns the moves of positions that the files of these stories break.
  func moves(of stories: Set<StoryName>) throws -> [StoryMove] {
    let positions = try stories.isEmpty ? nil : readerState.values(StoredProgress.position)
    guard let positions, !positions.isEmpty else { return [] }
    return try stories.map(\.text).ordered(by: StoryName.precedes).compactMap { id in
      guard positions[id] != nil else { return nil }
      let progress = try relocated(id)
      guard let broken = progress.broken, let segment = progress.segment else { return nil }
      return StoryMove(story: id, from: broken.from, to: segment, reason: broken.reason)
    }
  }

  /// Returns the progress in a story, in the version of its file; as it is stored when the file cannot be read.
  private func relocated(_ id: String) throws -> StoredProgress {
    var progress = try stored(id)
    // Not `story(_:)`, which may refresh the library.
    guard let version = progress.version, let file = try index.file(of: id, preferring: version),
      file.version != version,
      let opened = try? openDirectory(), let story = try? Self.read(file.name, in: opened).story
    else { return progress }
    try progress.relocate(to: story, outline: readerState.value(StoredProgress.outline, of: id)?.value)
    return progress
  }
}

extension StoredProgress {
  /// Writes the visited segments as they are in another version, if it is another one.
  fileprivate mutating func rewrite(
    for story: Story, _ version: String, of id: String, in state: ReservedState
  ) throws {
    guard let known = self.version, known != version else { return }
    let before = visits
    try relocate(to: story, outline: state.value(Self.outline, of: id)?.value)
    let list = state.list(Self.visited, of: id)
    for (old, new) in zip(before, visits) where old != new {
      try list.remove(.object(old.item))
      try list.insert(.object(new.item), at: new.time)
    }
    for added in visits.dropFirst(before.count) { try list.insert(.object(added.item), at: added.time) }
  }
}

extension ReservedState {
  /// Stores the outline of the version that a position refers to, which the next version is compared with.
  fileprivate func keepOutline(of story: Story, _ version: String, as id: String) throws {
    let part = StoredProgress.outline
    if try value(part, of: id)?.value["version"]?.stringValue == version { return }
    let outline = StoryOutline.json(of: story.analysis, version: version)
    // Of a larger story, only a position that is gone is moved, to the start.
    if try outline.serialized().count <= StateStore.maximumBytes { try set(part, of: id, to: outline) }
  }
}
