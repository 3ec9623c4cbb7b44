import SatchelCore
import SatchelJSON
import SatchelState
import SatchelStorage

extension StoryLibrary {
  /// Returns how far a reader of a story is, without a position for one that was not begun.
  ///
  /// A position that the version of the file breaks is moved to the nearest segment: see `StoryProgress.movedFrom`.
  /// Nothing is written for that, so that devices with different versions do not disturb each other.
  ///
  /// - Throws: `.invalid` for an invalid id, reader or slot, `.io`, `.damaged`, `.closed`
  public func progress(of id: String, in slot: ReadingSlot = ReadingSlot()) throws -> StoryProgress {
    try Self.checkName(id)
    let slot = try slot.checked()
    try refreshOnce()
    return try relocated(id, slot).progress
  }

  /// Returns what can be continued: the progress in each slot of each story of the library that was begun, and whose
  /// position is not an ending; the one that was read last comes first.
  ///
  /// - Parameter reader: the name of a reader; nil for all
  /// - Throws: `.invalid` for an invalid reader, `.io`, `.damaged`, `.closed`
  public func begun(by reader: String? = nil) throws -> [StoryProgress] {
    let reader = try reader.map { try ReadingSlot(reader: $0).checked().reader }
    try refreshOnce()
    var begun: [StoryProgress] = []
    for position in try readerState.all(StoredProgress.position) {
      guard let (story, slot) = ReadingSlot.named(in: position), reader == nil || slot.reader == reader,
        try index.file(of: story) != nil
      else { continue }
      let stored = try relocated(story, slot)
      if let segment = stored.segment, !stored.hasVisited(segment, asEnding: true) {
        begun.append(stored.progress)
      }
    }
    return begun.ordered { one, other in
      let (first, second) = (one.readAt ?? 0, other.readAt ?? 0)
      return first != second
        ? first > second : Self.precedes((one.story, one.slot), (other.story, other.slot))
    }
  }

  private static func precedes(
    _ one: (story: String, slot: ReadingSlot), _ other: (story: String, slot: ReadingSlot)
  )
    -> Bool
  {
    StoryName.precedes(one.slot.key(one.story).text, other.slot.key(other.story).text)
  }

  /// Moves a reader of a story to a segment, which counts as visited; an ending also as reached.
  ///
  /// The state keeps the progress by the library's name, the story's id and the slot, and saves it like other state:
  /// after a short delay, by `Store.flush()`, and when the store is closed.
  ///
  /// - Parameters:
  ///   - segment: its id; nil stores only the data
  ///   - slot: the reader, and which of the reader's slots it is
  ///   - language: of the file that is read; nil for the first file, by name, that has the story
  ///   - data: the app's own data, which belong to the position; nil keeps them, and null removes them
  /// - Returns: the progress after the move
  /// - Throws: `.notFound` when there is no such story or segment; as `story(_:)`; `.readOnly`; `.invalid` also for an
  ///   invalid reader or slot, and for data of more than 16 MiB
  @discardableResult
  public func move(
    _ id: String, to segment: String?, in slot: ReadingSlot = ReadingSlot(), language: String? = nil,
    data: JSONValue? = nil
  ) throws -> StoryProgress {
    try checkOpen()
    try Self.checkName(id)
    let slot = try slot.checked()
    guard let segment else {
      var progress = try stored(id, slot)
      try progress.save(data: data, in: readerState)
      return try relocated(id, slot).progress
    }
    let story = try story(id, language: language)
    guard let index = story.analysis.segment(segment) else {
      throw Self.noSegment(segment, of: id)
    }
    let version = story.contentHash.hexadecimal
    var progress = try stored(id, slot)
    if progress.version != version || outlines.withLock({ $0[slot.key(id)] != version }) {
      try progress.rewrite(for: story, version, in: readerState)
      try readerState.keepOutline(of: story, version, as: id, in: slot)
      outlines.withLock { $0[slot.key(id)] = version }
    }
    try progress.move(
      to: segment, isEnding: story.analysis.table.isEnding(index), version: version,
      language: story.header.language, in: readerState)
    try progress.save(data: data, in: readerState)
    return progress.progress
  }

  /// Deletes the position, the visited segments, the endings and the data of a story, so that the reader begins again.
  ///
  /// - Throws: `.invalid` for an invalid id, reader or slot, `.readOnly`, `.io`, `.closed`
  public func clearProgress(of id: String, in slot: ReadingSlot = ReadingSlot()) throws {
    try checkOpen()
    try Self.checkName(id)
    let slot = try slot.checked()
    for part in [StoredProgress.position, StoredProgress.outline].map(slot.part)
    where try readerState.value(part, of: id) != nil { try readerState.remove(part, of: id) }
    let visited = readerState.list(slot.part(StoredProgress.visited), of: id)
    if try !visited.items().isEmpty { try visited.clear() }
    outlines.withLock { $0[slot.key(id)] = nil }
  }

  /// Reads the progress in a story, unless no state has changed since it was read last.
  private func stored(_ id: String, _ slot: ReadingSlot) throws -> StoredProgress {
    let version = try readerState.version()
    if let latest = latestProgress.withLock({ $0 }), latest.version == version, latest.story == slot.key(id) {
      return latest.progress
    }
    let progress = try StoredProgress(of: id, in: slot, from: readerState)
    latestProgress.withLock { $0 = version.map { ($0, slot.key(id), progress) } }
    return progress
  }

  // MARK: New versions

  /// Returns the moves of positions that the files of these stories break.
  func moves(of stories: Set<StoryName>) throws -> [StoryMove] {
    if stories.isEmpty { return [] }
    var moves: [StoryMove] = []
    for position in try readerState.all(StoredProgress.position) {
      guard let (story, slot) = ReadingSlot.named(in: position), stories.contains(StoryName(story)) else {
        continue
      }
      let progress = try relocated(story, slot)
      guard let broken = progress.broken, let segment = progress.segment else { continue }
      moves.append(
        StoryMove(story: story, slot: slot, from: broken.from, to: segment, reason: broken.reason))
    }
    return moves.ordered { Self.precedes(($0.story, $0.slot), ($1.story, $1.slot)) }
  }

  /// Returns the progress in a story, in the version of its file; as it is stored when the file cannot be read.
  private func relocated(_ id: String, _ slot: ReadingSlot) throws -> StoredProgress {
    var progress = try stored(id, slot)
    guard let version = progress.version else { return progress }
    // Not `story(_:)`, which may refresh the library.
    let known =
      try index.file(of: id, language: progress.language, preferring: version)
      ?? index.file(of: id, preferring: version)
    guard let known, known.version != version, let opened = try? openDirectory(),
      let story = try? Self.read(known.name, in: opened).story
    else { return progress }
    try progress.relocate(to: story, from: readerState)
    return progress
  }
}

extension StoredProgress {
  /// Moves the position, and renames visited segments, to another version of the story.
  fileprivate mutating func relocate(to story: Story, from state: ReservedState) throws {
    try relocate(to: story, outline: state.value(slot.part(Self.outline), of: self.story)?.value)
  }

  /// Writes the visited segments as they are in another version, if it is another one.
  fileprivate mutating func rewrite(for story: Story, _ version: String, in state: ReservedState) throws {
    guard let known = self.version, known != version else { return }
    let before = visits
    try relocate(to: story, from: state)
    let list = state.list(slot.part(Self.visited), of: self.story)
    for (old, new) in zip(before, visits) where old != new {
      try list.remove(.object(old.item))
      try list.insert(.object(new.item), at: new.time)
    }
    for added in visits.dropFirst(before.count) { try list.insert(.object(added.item), at: added.time) }
  }
}

extension ReservedState {
  /// Stores the outline of the version that a position refers to, which the next version is compared with.
  fileprivate func keepOutline(
    of story: Story, _ version: String, as id: String, in slot: ReadingSlot
  ) throws {
    let part = slot.part(StoredProgress.outline)
    if try value(part, of: id)?.value["version"]?.stringValue == version { return }
    let outline = StoryOutline.json(of: story.analysis, version: version)
    // Of a larger story, only a position that is gone is moved, to the start.
    if try outline.serialized().count <= StateStore.maximumBytes { try set(part, of: id, to: outline) }
  }
}
