import CSatchel
import Satchel

@_cdecl("satchel_stories_open") @implementation
public func satchel_stories_open(
  _ store: OpaquePointer!, _ directory: satchel_bytes, _ name: satchel_bytes,
  _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  guarded(returning: out, orElse: nil) {
    let name = try name.text("name")
    return try Handles.stories.insert(
      Handles.stores.borrow(store).stories(
        in: directory.text("directory"), named: name.isEmpty ? nil : name))
  }
}

@_cdecl("satchel_stories_refresh") @implementation
public func satchel_stories_refresh(
  _ stories: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let refresh = try Handles.stories.borrow(stories).refresh()
    if let out { try give(refresh.json, to: out) }
  }
}

@_cdecl("satchel_stories_load_all") @implementation
public func satchel_stories_load_all(
  _ stories: OpaquePointer!, _ checked: Bool, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let library = try Handles.stories.borrow(stories)
    var buffer = HostBuffer()
    var problems: [StoryProblem] = []
    try buffer.append(#"{"stories":"#)
    try buffer.append(array: { problems = try library.loadAll(checked: checked, write: $0) })
    try buffer.append(#","problems":"#)
    try JSONValue.array(problems.map(\.json)).serialized().withUnsafeBytes { try buffer.append($0) }
    try buffer.append("}")
    try buffer.give(to: out)
  }
}

@_cdecl("satchel_stories_select") @implementation
public func satchel_stories_select(
  _ stories: OpaquePointer!, _ query: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let library = try Handles.stories.borrow(stories)
    let json = try query.jsonIfAny("query")
    let query = json == .null ? StoryQuery() : try StoryQuery(json: json)
    var buffer = HostBuffer()
    try buffer.append(array: { try library.each(query, write: $0) })
    try buffer.give(to: out)
  }
}

@_cdecl("satchel_stories_facets") @implementation
public func satchel_stories_facets(
  _ stories: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let library = try Handles.stories.borrow(stories)
    func strings(_ list: [String]) -> JSONValue { .array(list.map { .string($0) }) }
    try give(
      [
        "tags": strings(library.tags()), "cultures": strings(library.cultures()),
        "age_ranges": strings(library.ageRanges()), "languages": strings(library.languages()),
      ], to: out)
  }
}

@_cdecl("satchel_stories_story") @implementation
public func satchel_stories_story(
  _ stories: OpaquePointer!, _ id: satchel_bytes, _ language: satchel_bytes, _ checked: Bool,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let story = try Handles.stories.borrow(stories).story(
      id.text("id"), language: language.textIfAny("language"), checked: checked)
    try story.withText { try give($0, to: out) }
  }
}

@_cdecl("satchel_stories_open_story") @implementation
public func satchel_stories_open_story(
  _ stories: OpaquePointer!, _ id: satchel_bytes, _ language: satchel_bytes, _ checked: Bool,
  _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  guarded(returning: out, orElse: nil) {
    try Handles.openStories.insert(
      Handles.stories.borrow(stories).story(
        id.text("id"), language: language.textIfAny("language"), checked: checked))
  }
}

@_cdecl("satchel_stories_segment") @implementation
public func satchel_stories_segment(
  _ stories: OpaquePointer!, _ id: satchel_bytes, _ language: satchel_bytes, _ segment: satchel_bytes,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let story = try Handles.stories.borrow(stories).story(
      id.text("id"), language: language.textIfAny("language"))
    try give(story.segment(named: segment.text("segment")).json, to: out)
  }
}

@_cdecl("satchel_stories_mark_purchased") @implementation
public func satchel_stories_mark_purchased(
  _ stories: OpaquePointer!, _ id: satchel_bytes, _ purchased: Bool
) -> satchel_status {
  guarded { try Handles.stories.borrow(stories).markPurchased(id.text("id"), purchased) }
}

@_cdecl("satchel_stories_preload") @implementation
public func satchel_stories_preload(_ stories: OpaquePointer!, _ id: satchel_bytes) -> satchel_status {
  guarded {
    let (library, story) = (try Handles.stories.borrow(stories), try id.text("id"))
    if story.isEmpty { try library.preload() } else { try library.preload(story: story) }
  }
}

@_cdecl("satchel_stories_loading") @implementation
public func satchel_stories_loading(
  _ stories: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(Handles.stories.borrow(stories).loading().json, to: $0) }
}

@_cdecl("satchel_stories_progress") @implementation
public func satchel_stories_progress(
  _ stories: OpaquePointer!, _ id: satchel_bytes, _ options: satchel_bytes,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let library = try Handles.stories.borrow(stories)
    let options = try ReadingOptions(json: options.jsonIfAny("options"))
    try give(library.progress(of: id.text("id"), in: options.slot).json, to: out)
  }
}

@_cdecl("satchel_stories_begun") @implementation
public func satchel_stories_begun(
  _ stories: OpaquePointer!, _ options: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let library = try Handles.stories.borrow(stories)
    let options = try ReadingOptions(json: options.jsonIfAny("options"))
    let begun = try library.begun(by: options.hasReader ? options.slot.reader : nil)
    try give(.array(begun.map(\.json)), to: out)
  }
}

@_cdecl("satchel_stories_move_to") @implementation
public func satchel_stories_move_to(
  _ stories: OpaquePointer!, _ id: satchel_bytes, _ segment: satchel_bytes, _ options: satchel_bytes,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let library = try Handles.stories.borrow(stories)
    let options = try ReadingOptions(json: options.jsonIfAny("options"))
    let progress = try library.move(
      id.text("id"), to: segment.textIfAny("segment"), in: options.slot, language: options.language,
      data: options.data)
    if let out { try give(progress.json, to: out) }
  }
}

@_cdecl("satchel_stories_clear_progress") @implementation
public func satchel_stories_clear_progress(
  _ stories: OpaquePointer!, _ id: satchel_bytes, _ options: satchel_bytes
) -> satchel_status {
  guarded {
    let library = try Handles.stories.borrow(stories)
    let options = try ReadingOptions(json: options.jsonIfAny("options"))
    try library.clearProgress(of: id.text("id"), in: options.slot)
  }
}

@_cdecl("satchel_stories_clear_cache") @implementation
public func satchel_stories_clear_cache(_ stories: OpaquePointer!) -> satchel_status {
  guarded { try Handles.stories.borrow(stories).clearCache() }
}

@_cdecl("satchel_stories_free") @implementation
public func satchel_stories_free(_ stories: OpaquePointer!) {
  Handles.stories.remove(stories)?.close()
}
