import SatchelJSON

/// A member that is the app's: one without a field of its own.
struct ExtraMember {
  /// The key without its quotes, with unresolved escapes, and the value.
  var key: StorySlice
  var value: StorySlice
  /// The index of the segment; -1 for the story.
  var segment: Int32 = -1
  /// The index of the choice among all choices; -1 for none.
  var choice: Int32 = -1
}

extension StoryReader {
  /// Keeps a member that is the app's.
  @inline(never)
  mutating func keepExtra(_ key: JSONSlice, _ value: Value) {
    // The slice of a string is without its quotes.
    let quotes = value.kind == .string ? 1 : 0
    var member = ExtraMember(
      key: StorySlice(key),
      value: StorySlice(JSONSlice(value.slice.start - quotes, value.slice.end + quotes)))
    switch container {
    case .segment, .choice:
      member.segment = Int32(truncatingIfNeeded: table.segments.count)
      if container == .choice { member.choice = Int32(truncatingIfNeeded: table.choices.count) }
      table.segmentExtras.append(member)
    default: table.extras.append(member)
    }
  }
}

extension StoryTable {
  /// The members of the story that are the app's.
  var extra: JSONObject { object(extras[...]) }

  /// The size of these members in bytes.
  var extraBytes: Int { extras.reduce(0) { $0 + Int($1.key.count) + Int($1.value.count) } }

  /// Returns the members of a segment, or of one of its choices, that are the app's.
  func extra(ofSegment segment: Int, choice: Int = -1) -> JSONObject {
    if segmentExtras.isEmpty { return JSONObject() }
    var (low, high) = (0, segmentExtras.count)
    while low < high {
      let middle = (low + high) / 2
      if Int(segmentExtras[middle].segment) < segment { low = middle + 1 } else { high = middle }
    }
    let own = segmentExtras[low...].prefix { Int($0.segment) == segment }
    return object(own.filter { Int($0.choice) == choice }[...])
  }

  private func object(_ members: ArraySlice<ExtraMember>) -> JSONObject {
    var object = JSONObject()
    for member in members {
      // The scanner has accepted the value.
      guard let value = try? JSONValue(parsing: text.bytes(member.value)) else { continue }
      object[JSONEscape.resolved(text.bytes(member.key))] = value
    }
    return object
  }
}
