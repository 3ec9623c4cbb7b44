import SatchelJSON

/// A story in a library's index: its header and statistics, whose members are members of the summary too, its file and
/// the findings.
@dynamicMemberLookup
public struct StorySummary: Equatable, Sendable, JSONConvertible {
  public var id: String
  /// The name of its file in the library's directory.
  public var file: String
  public var header: StoryHeader
  public var statistics: StoryStatistics
  /// Whether the story is purchased: the state in the store, or the value in the file when the store has
  /// none.
  public var isPurchased: Bool
  /// The number of errors that a check finds in the file itself: without `missing-asset`, because the files that it
  /// names come and go without it.
  public var errors = 0
  /// The number of warnings that a check finds in the file itself.
  public var warnings = 0
  /// The number of places where it names a picture or sound.
  var namedFiles = 0
  /// The sort key of its title.
  var titleKey: String { TitleKey.key(of: header.title ?? "") }

  init(id: String, file: String, header: StoryHeader = StoryHeader(), statistics: StoryStatistics = .none) {
    (self.id, self.file, self.header, self.statistics) = (id, file, header, statistics)
    isPurchased = header.isPurchased ?? false
  }

  public subscript<Value>(dynamicMember member: KeyPath<StoryHeader, Value>) -> Value {
    header[keyPath: member]
  }

  public subscript<Value>(dynamicMember member: KeyPath<StoryStatistics, Value>) -> Value {
    statistics[keyPath: member]
  }

  /// A JSON object with the keys of `StoryHeader.json` and `StoryStatistics.json`, and file, errors and
  /// warnings.
  public var json: JSONValue {
    var members = JSONMemberList()
    add(to: &members)
    return members.json
  }

  /// Passes the same as text to `body`.
  func withText(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
    var writer = JSONMemberWriter()
    writer.beginObject()
    add(to: &writer)
    writer.endObject()
    try writer.withText(body)
  }

  private func add(to members: inout some (JSONMemberSink & ~Copyable)) {
    members.add("id", id)
    members.add("file", file)
    header.add(to: &members, isPurchased: isPurchased)
    statistics.add(to: &members)
    members.add("errors", Int64(errors))
    members.add("warnings", Int64(warnings))
  }
}
