import CSatchel
import Satchel

@_cdecl("satchel_story_check") @implementation
public func satchel_story_check(
  _ text: satchel_bytes, _ options: UnsafePointer<satchel_story_check_options>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let reader = try OptionsReader(options)
    let number = reader.choice(\.source) ?? 0
    guard let source = StorySource(rawValue: Int32(bitPattern: number)) else {
      throw SatchelError(.invalid, "options: source \(number) is not a satchel_story_source")
    }
    let format = satchel_report_format(rawValue: reader.choice(\.format) ?? 0)
    let name = try reader.value(\.name)?.text("options: name") ?? ""
    let report = try naming("text") { try StoryReport.check(text.raw("text"), source: source) }
    switch format {
    case SATCHEL_REPORT_JSON: try give(report.serialized(), to: out)
    case SATCHEL_REPORT_SARIF:
      try give(SARIF.log([(name, report.findings)], version: Store.version), to: out)
    case SATCHEL_REPORT_TEXT: try give(report.text(name: name), to: out)
    default: throw SatchelError(.invalid, "options: format \(format.rawValue) is not a satchel_report_format")
    }
  }
}

@_cdecl("satchel_story_describe") @implementation
public func satchel_story_describe(
  _ text: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(text.story("text").json, to: $0) }
}

@_cdecl("satchel_story_segment") @implementation
public func satchel_story_segment(
  _ text: satchel_bytes, _ id: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(text.story("text").segment(named: id.text("id")).json, to: $0) }
}

@_cdecl("satchel_story_path_count") @implementation
public func satchel_story_path_count(
  _ text: satchel_bytes, _ count: UnsafeMutablePointer<Int64>!,
  _ digits: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  count?.pointee = 0
  digits?.pointee = satchel_buffer()
  return guarded {
    let story = try text.story("text")
    if let digits { try give(story.exactPathCount ?? "unbounded", to: digits) }
    count?.pointee = story.pathCount.saturated
  }
}

@_cdecl("satchel_story_graph") @implementation
public func satchel_story_graph(
  _ text: satchel_bytes, _ format: satchel_graph_format, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let story = try text.story("text")
    switch format {
    case SATCHEL_GRAPH_DOT: try give(story.graph(.dot), to: out)
    case SATCHEL_GRAPH_MERMAID: try give(story.graph(.mermaid), to: out)
    default: throw SatchelError(.invalid, "format: \(format.rawValue) is not a satchel_graph_format")
    }
  }
}

@_cdecl("satchel_story_diff") @implementation
public func satchel_story_diff(
  _ old: satchel_bytes, _ new: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(old.story("old").changes(to: new.story("new")).json, to: $0) }
}

@_cdecl("satchel_story_from_twee") @implementation
public func satchel_story_from_twee(
  _ text: satchel_bytes, _ id: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let name = try id.text("id")
    try give(Twee.story(text.raw("text"), id: name.isEmpty ? nil : name), to: out)
  }
}

extension satchel_bytes {
  /// Returns the bytes parsed as a story.
  fileprivate func story(_ name: StaticString) throws -> Story {
    do {
      return try Story(raw(name))
    } catch var error as SatchelError {
      error.message = "\(name): \(error.message)"
      throw error
    }
  }
}

extension Story {
  /// Returns the segment with an id; the first segment for the empty id.
  func segment(named id: String) throws -> StorySegment {
    guard let segment = id.isEmpty ? start : segment(id) else {
      let reason = id.isEmpty ? "the story has no segments" : "there is no segment \"\(id)\""
      throw SatchelError(.notFound, reason)
    }
    return segment
  }
}
