import SatchelCore
import SatchelJSON
import SatchelState

/// The reader's progress in a story as the state has it.
///
/// It is in parts that merge by themselves when two devices read at the same time: the position is a value, of which the
/// newest wins, with the app's data, which belong to it; the visited segments are a list, to which both add.
struct StoredProgress {
  /// The kinds of parts of `ReservedState`; each slot has its own.
  static let (position, visited, outline) = ("position", "visited", "outline")

  /// A visited segment: an item of the list.
  struct Visit: Equatable {
    /// An object with `segment` and, for an ending, `ending`; a newer version of the library may add members.
    private(set) var item: JSONObject
    private(set) var segment: String
    let isEnding: Bool
    let time: Int64

    init(_ segment: String, isEnding: Bool, time: Int64) {
      item = ["segment": .string(segment)]
      if isEnding { item["ending"] = true }
      (self.segment, self.isEnding, self.time) = (segment, isEnding, time)
    }

    init?(_ item: StateList.Item) {
      guard let members = item.value.objectValue, let segment = members["segment"]?.stringValue else {
        return nil
      }
      (self.item, self.segment, time) = (members, segment, item.time)
      isEnding = members["ending"]?.boolValue ?? false
    }

    mutating func rename(to segment: String) {
      item["segment"] = .string(segment)
      self.segment = segment
    }
  }

  let story: String
  let slot: ReadingSlot
  /// All members of the position's value; a newer version of the library may add some.
  private var members: JSONObject
  /// The time of the last move, in Unix milliseconds.
  private var readAt: Int64?
  /// In the order of the first visits. A segment may occur twice, when it became an ending.
  private(set) var visits: [Visit]
  /// Set where the version of the file breaks the position.
  private(set) var broken: (from: String, reason: StoryProgress.Reason)?

  /// The segment that the reader is at; nil in a story that was not begun.
  private(set) var segment: String? {
    get { members["position"]?.stringValue }
    set { members["position"] = newValue.map { .string($0) } }
  }

  /// The SHA-256 of the version that the reader read it in, in hexadecimal digits.
  var version: String? { members["version"]?.stringValue }

  /// The language of the file that the reader reads.
  var language: String? { members["language"]?.stringValue }

  /// Reads the progress in a story.
  init(of story: String, in slot: ReadingSlot, from state: ReservedState) throws {
    (self.story, self.slot) = (story, slot)
    let stored = try state.value(slot.part(Self.position), of: story)
    (members, readAt) = (stored?.value.objectValue ?? [:], stored?.time)
    visits = try state.list(slot.part(Self.visited), of: story).items().reversed().compactMap { Visit($0) }
    if let segment, !hasVisited(segment) { visits.append(Visit(segment, isEnding: false, time: readAt ?? 0)) }
  }

  func hasVisited(_ segment: String, asEnding: Bool = false) -> Bool {
    visits.contains { $0.segment.hasSameBytes(as: segment) && ($0.isEnding || !asEnding) }
  }

  /// Moves the position, and renames visited segments, to another version of the story.
  ///
  /// - Parameter outline: of the version that the reader read; nil gives no comparison: then only a position that is
  ///   gone is moved, to the start
  mutating func relocate(to story: Story, outline: JSONValue?) throws {
    let known = outline.flatMap { try? Story($0.serialized(), source: .json) }
    let old = try known ?? Story(Array("{}".utf8), source: .json)
    let relocation = StoryRelocation(old: old.analysis, new: story.analysis)
    for (from, to) in relocation.successors {
      for index in visits.indices where visits[index].segment.hasSameBytes(as: from) {
        visits[index].rename(to: to)
      }
    }
    guard let from = segment, let move = relocation.move(from: from),
      let index = story.analysis.segment(move.to)
    else { return }
    let isEnding = story.analysis.table.isEnding(index)
    if !hasVisited(move.to, asEnding: isEnding) {
      visits.append(Visit(move.to, isEnding: isEnding, time: readAt ?? 0))
    }
    (broken, segment) = ((from, move.reason), move.to)
  }

  /// Moves the reader to a segment, and writes that it is visited; the rest is for `save`.
  mutating func move(
    to segment: String, isEnding: Bool, version: String, language: String?, in state: ReservedState
  ) throws {
    if !hasVisited(segment, asEnding: isEnding) {
      let visit = Visit(segment, isEnding: isEnding, time: 0)
      try state.list(slot.part(Self.visited), of: story).push(.object(visit.item))
      visits.append(visit)
    }
    (self.segment, broken) = (segment, nil)
    members["version"] = .string(version)
    members["language"] = language.map { .string($0) }
  }

  /// Writes the position and the app's data.
  ///
  /// - Parameter data: nil keeps them, and null removes them
  mutating func save(data: JSONValue?, in state: ReservedState) throws {
    if let data { members["data"] = data.isNull ? nil : data }
    // The name of the state says neither of a slot with a name.
    members["story"] = .string(story)
    members["reader"] = slot.reader.isEmpty ? nil : .string(slot.reader)
    members["slot"] = slot.slot.isEmpty ? nil : .string(slot.slot)
    let part = slot.part(Self.position)
    try state.set(part, of: story, to: .object(members))
    readAt = try state.value(part, of: story)?.time
  }

  var progress: StoryProgress {
    var progress = StoryProgress(story: story, slot: slot)
    progress.data = members["data"] ?? .null
    guard let segment else { return progress }
    (progress.position, progress.readAt, progress.language) = (segment, readAt, language)
    (progress.movedFrom, progress.movedReason) = (broken?.from, broken?.reason)
    var (seen, ended): (Set<StoryName>, Set<StoryName>) = ([], [])
    for visit in visits {
      let name = StoryName(visit.segment)
      if visit.isEnding { ended.insert(name) }
      if seen.insert(name).inserted { progress.visited.append(visit.segment) }
    }
    progress.endings = progress.visited.filter { ended.contains(StoryName($0)) }
    return progress
  }
}

extension ReadingSlot {
  /// The story and the slot of a stored position; nil for one that names none.
  static func named(in position: JSONValue) -> (story: String, slot: ReadingSlot)? {
    guard let story = position["story"]?.stringValue, StoryID.isName(story) else { return nil }
    let names = ReadingSlot(
      reader: position["reader"]?.stringValue ?? "", slot: position["slot"]?.stringValue ?? "")
    return (try? names.checked()).map { (story, $0) }
  }
}
