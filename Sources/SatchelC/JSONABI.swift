import CSatchel
import Satchel

@_cdecl("satchel_json_check") @implementation
public func satchel_json_check(_ text: satchel_bytes) -> satchel_status {
  guarded {
    let bytes = try text.raw("text")
    try naming("text") { try JSONScanner.check(bytes) }
  }
}

@_cdecl("satchel_json_equal") @implementation
public func satchel_json_equal(
  _ one: satchel_bytes, _ other: satchel_bytes, _ out: UnsafeMutablePointer<Bool>!
) -> satchel_status {
  guarded(returning: out, orElse: false) {
    let one = try one.raw("one")
    let tape = try naming("one") { try JSONTape(one) }
    let other = try other.raw("other")
    return try naming("other") { try JSONTape.equal(tape, JSONTape(other)) }
  }
}

@_cdecl("satchel_json_edit") @implementation
public func satchel_json_edit(
  _ existing: satchel_bytes, _ value: satchel_bytes, _ config: satchel_bytes,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let config = try config.jsonIfAny("config")
    let edit = try naming("config") { try JSONEdit(config: config) }
    let (existing, value) = (try existing.json("existing"), try value.json("value"))
    try give(naming("edit") { try edit.apply(to: existing, new: value) }, to: out)
  }
}

@_cdecl("satchel_json_merge") @implementation
public func satchel_json_merge(
  _ existing: satchel_bytes, _ value: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let (existing, value) = (try existing.json("existing"), try value.json("value"))
    try give(naming("merge") { try existing.merging(value) }, to: out)
  }
}

@_cdecl("satchel_json_merge_patch") @implementation
public func satchel_json_merge_patch(
  _ target: satchel_bytes, _ patch: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let (target, patch) = (try target.json("target"), try patch.json("patch"))
    try give(naming("merge patch") { try target.mergePatched(by: patch) }, to: out)
  }
}

@_cdecl("satchel_json_patch") @implementation
public func satchel_json_patch(
  _ target: satchel_bytes, _ patch: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let (target, patch) = (try target.json("target"), try patch.json("patch"))
    try give(naming("patch") { try JSONPatch(json: patch).apply(to: target) }, to: out)
  }
}

@_cdecl("satchel_json_value_at") @implementation
public func satchel_json_value_at(
  _ value: satchel_bytes, _ path: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let (value, path) = (try value.json("value"), try path.text("path"))
    guard let found = try naming("path", { try value.value(at: JSONPath(path)) }) else { return }
    try give(found, to: out)
  }
}
