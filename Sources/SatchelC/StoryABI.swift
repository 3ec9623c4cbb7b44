import CSatchel
import Satchel

@_cdecl("satchel_story_check") @implementation
public func satchel_story_check(
  _ text: satchel_bytes, _ options: UnsafePointer<satchel_story_check_options>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let options = try CheckOptions(options)
    let report = try naming("text") {
      try StoryReport.check(text.raw("text"), source: options.source, folder: options.folder)
    }
    try give(report, options, to: out)
  }
}

@_cdecl("satchel_story_report") @implementation
public func satchel_story_report(
  _ story: OpaquePointer!, _ options: UnsafePointer<satchel_story_check_options>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let (story, options) = (try Handles.openStories.borrow(story), try CheckOptions(options))
    try give(options.folder.map { story.check(folder: $0) } ?? story.check(), options, to: out)
  }
}

/// The options of a check, checked.
private struct CheckOptions {
  var source: StorySource
  var format: satchel_report_format
  var name: String
  var folder: String?

  init(_ options: UnsafePointer<satchel_story_check_options>!) throws {
    let reader = try OptionsReader(options)
    let number = reader.choice(\.source) ?? 0
    source = try StorySource(satchel_story_source(rawValue: number), "options: source ")
    format = satchel_report_format(rawValue: reader.choice(\.format) ?? 0)
    name = try reader.value(\.name)?.text("options: name") ?? ""
    folder = try reader.value(\.folder)?.text("options: folder")
    if folder?.isEmpty == true { folder = nil }
    if folder?.utf8.contains(0) == true { throw SatchelError(.invalid, "options: folder contains a NUL") }
  }
}

extension StorySource {
  fileprivate init(_ number: satchel_story_source, _ name: String) throws {
    switch number {
    case SATCHEL_STORY_AUTOMATIC: self = .automatic
    case SATCHEL_STORY_JSON: self = .json
    case SATCHEL_STORY_TWEE: self = .twee
    default: throw SatchelError(.invalid, "\(name)\(number.rawValue) is not a satchel_story_source")
    }
  }
}

private func give(
  _ report: StoryReport, _ options: CheckOptions, to out: UnsafeMutablePointer<satchel_buffer>
) throws {
  switch options.format {
  case SATCHEL_REPORT_JSON: try give(report.serialized(), to: out)
  case SATCHEL_REPORT_SARIF:
    try give(SARIF.log([(options.name, report.findings)], version: Store.version), to: out)
  case SATCHEL_REPORT_TEXT: try give(report.text(name: options.name), to: out)
  default:
    throw SatchelError(.invalid, "options: format \(options.format.rawValue) is not a satchel_report_format")
  }
}

@_cdecl("satchel_story_open") @implementation
public func satchel_story_open(
  _ text: satchel_bytes, _ source: satchel_story_source, _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  guarded(returning: out, orElse: nil) {
    let source = try StorySource(source, "source: ")
    return try Handles.openStories.insert(naming("text") { try Story(text.raw("text"), source: source) })
  }
}

@_cdecl("satchel_story_open_path") @implementation
public func satchel_story_open_path(
  _ path: UnsafePointer<CChar>!, _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  guarded(returning: out, orElse: nil) {
    try Handles.openStories.insert(Story(contentsOf: text(path, "path")))
  }
}

@_cdecl("satchel_story_text") @implementation
public func satchel_story_text(
  _ story: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(Handles.openStories.borrow(story).text, to: $0) }
}

@_cdecl("satchel_story_free") @implementation
public func satchel_story_free(_ story: OpaquePointer!) {
  _ = Handles.openStories.remove(story)
}

@_cdecl("satchel_story_describe") @implementation
public func satchel_story_describe(
  _ story: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(Handles.openStories.borrow(story).json, to: $0) }
}

@_cdecl("satchel_story_segment") @implementation
public func satchel_story_segment(
  _ story: OpaquePointer!, _ id: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    try give(Handles.openStories.borrow(story).segment(named: id.text("id")).json, to: out)
  }
}

@_cdecl("satchel_story_path_count") @implementation
public func satchel_story_path_count(
  _ story: OpaquePointer!, _ count: UnsafeMutablePointer<Int64>!,
  _ digits: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  count?.pointee = 0
  digits?.pointee = satchel_buffer()
  return guarded {
    let story = try Handles.openStories.borrow(story)
    if let digits { try give(story.exactPathCount ?? "unbounded", to: digits) }
    count?.pointee = story.pathCount.saturated
  }
}

@_cdecl("satchel_story_graph") @implementation
public func satchel_story_graph(
  _ story: OpaquePointer!, _ format: satchel_graph_format, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let story = try Handles.openStories.borrow(story)
    switch format {
    case SATCHEL_GRAPH_DOT: try give(story.graph(.dot), to: out)
    case SATCHEL_GRAPH_MERMAID: try give(story.graph(.mermaid), to: out)
    default: throw SatchelError(.invalid, "format: \(format.rawValue) is not a satchel_graph_format")
    }
  }
}

@_cdecl("satchel_story_diff") @implementation
public func satchel_story_diff(
  _ older: OpaquePointer!, _ newer: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let older = try Handles.openStories.borrow(older)
    try give(older.changes(to: Handles.openStories.borrow(newer)).json, to: out)
  }
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
