import CSatchel
import Satchel

@_cdecl("satchel_place_normalize") @implementation
public func satchel_place_normalize(
  _ text: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(PlaceText.normalize(text.text("text")), to: $0) }
}

@_cdecl("satchel_place_key") @implementation
public func satchel_place_key(
  _ location: satchel_bytes, _ level: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let name = try level.text("level")
    guard let level = Level(name: name) else {
      throw SatchelError(.invalid, "level: unknown level \"\(name)\"")
    }
    try give(location.location().key(level)?.text, to: out)
  }
}

@_cdecl("satchel_place_most_specific_level") @implementation
public func satchel_place_most_specific_level(
  _ location: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(location.location().mostSpecificLevel?.name, to: $0) }
}

@_cdecl("satchel_place_levels") @implementation
public func satchel_place_levels(
  _ location: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) {
    let levels =
      location.size == 0 ? Level.mostSpecificFirst : try location.location().keys.map(\.level)
    try give(.array(levels.map(\.json)), to: $0)
  }
}

@_cdecl("satchel_place_level_of_scope") @implementation
public func satchel_place_level_of_scope(
  _ scope: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(Scope(name: scope.text("scope"))?.name, to: $0) }
}

@_cdecl("satchel_place_entity_id") @implementation
public func satchel_place_entity_id(
  _ section: satchel_bytes, _ label: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) {
    try give(EntityID.make(section: section.text("section"), label: label.text("label")), to: $0)
  }
}

@_cdecl("satchel_place_section_of") @implementation
public func satchel_place_section_of(
  _ entity_id: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(EntityID.section(of: entity_id.text("entity_id")), to: $0) }
}
