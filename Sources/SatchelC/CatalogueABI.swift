import CSatchel
import Satchel

@_cdecl("satchel_catalogue_persist") @implementation
public func satchel_catalogue_persist(
  _ store: OpaquePointer!, _ location: satchel_bytes, _ section: satchel_bytes,
  _ options: UnsafePointer<satchel_persist_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let catalogue = try Handles.stores.borrow(store).catalogue
    let receipt = try catalogue.persist(
      section.raw("section"), at: location.location(), reuse: Catalogue.Reuse(options),
      etag: Catalogue.etag(options))
    if let out { try give(receipt.json, to: out) }
  }
}

@_cdecl("satchel_catalogue_deliver") @implementation
public func satchel_catalogue_deliver(
  _ store: OpaquePointer!, _ delivery: satchel_bytes, _ options: UnsafePointer<satchel_persist_options>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let catalogue = try Handles.stores.borrow(store).catalogue
    let receipts = try catalogue.deliver(
      delivery.raw("delivery"), complete: OptionsReader(options).flag(\.complete),
      reuse: Catalogue.Reuse(options), etag: Catalogue.etag(options))
    if let out { try give(.array(receipts.map(\.json)), to: out) }
  }
}

@_cdecl("satchel_catalogue_renew") @implementation
public func satchel_catalogue_renew(
  _ store: OpaquePointer!, _ location: satchel_bytes, _ section: satchel_bytes, _ etag: satchel_bytes,
  _ max_age: Int64, _ renewed: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  renewed?.pointee = 0
  return guarded {
    let count = try Handles.stores.borrow(store).catalogue.renew(
      location.location(), section: section.textIfAny("section"),
      etag: etag.textIfAny("etag"), maxAge: max_age < 0 ? nil : max_age)
    renewed?.pointee = Int64(count)
  }
}

@_cdecl("satchel_catalogue_sections") @implementation
public func satchel_catalogue_sections(
  _ store: OpaquePointer!, _ location: satchel_bytes, _ options: UnsafePointer<satchel_read_options>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let catalogue = try Handles.stores.borrow(store).catalogue
    let options = try OptionsReader(options)
    let text = try catalogue.sectionsText(
      at: location.location(), inherit: options.flag(\.inherit, default: true), nearby: options.nearby)
    try give(text, to: out)
  }
}

@_cdecl("satchel_catalogue_load") @implementation
public func satchel_catalogue_load(
  _ store: OpaquePointer!, _ location: satchel_bytes, _ section: satchel_bytes,
  _ options: UnsafePointer<satchel_read_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let catalogue = try Handles.stores.borrow(store).catalogue
    let options = try OptionsReader(options)
    let text = try catalogue.loadText(
      section.text("section"), at: location.location(), allowExpired: options.flag(\.allow_expired),
      inherit: options.flag(\.inherit, default: true), nearby: options.nearby,
      storage: options.flag(\.storage))
    if let text { try give(text, to: out) }
  }
}

@_cdecl("satchel_catalogue_plan") @implementation
public func satchel_catalogue_plan(
  _ store: OpaquePointer!, _ location: satchel_bytes, _ options: UnsafePointer<satchel_read_options>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let options = try OptionsReader(options)
    let catalogue = try Handles.stores.borrow(store).catalogue
    let plan = try catalogue.plan(
      for: location.location(), inherit: options.flag(\.inherit, default: true), nearby: options.nearby)
    try give(.object(JSONObject(plan.map { ($0.section, $0.plan.json) })), to: out)
  }
}

@_cdecl("satchel_catalogue_has_cached") @implementation
public func satchel_catalogue_has_cached(
  _ store: OpaquePointer!, _ location: satchel_bytes, _ options: UnsafePointer<satchel_read_options>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) {
    let nearby = try OptionsReader(options).nearby
    let catalogue = try Handles.stores.borrow(store).catalogue
    try give(catalogue.hasCached(location.location(), nearby: nearby)?.rawValue, to: $0)
  }
}

@_cdecl("satchel_catalogue_locate") @implementation
public func satchel_catalogue_locate(
  _ store: OpaquePointer!, _ latitude: Double, _ longitude: Double, _ within: Double,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let catalogue = try Handles.stores.borrow(store).catalogue
    let found = try catalogue.locate(latitude: latitude, longitude: longitude, within: within)
    try give(.array(found.map(\.json)), to: out)
  }
}

@_cdecl("satchel_catalogue_search") @implementation
public func satchel_catalogue_search(
  _ store: OpaquePointer!, _ text: satchel_bytes, _ location: satchel_bytes,
  _ options: UnsafePointer<satchel_search_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let catalogue = try Handles.stores.borrow(store).catalogue
    let options = try OptionsReader(options)
    let found = try catalogue.search(
      text.text("text"), at: location.locationIfAny(),
      limit: Int(options.number(\.limit, default: 20)), allowExpired: options.flag(\.allow_expired),
      nearby: options.value(\.nearby) ?? Catalogue.defaultNearby)
    try give(.array(found.map(\.json)), to: out)
  }
}

@_cdecl("satchel_catalogue_entity") @implementation
public func satchel_catalogue_entity(
  _ store: OpaquePointer!, _ entity_id: satchel_bytes, _ location: satchel_bytes,
  _ options: UnsafePointer<satchel_read_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let nearby = try OptionsReader(options).nearby
    let catalogue = try Handles.stores.borrow(store).catalogue
    let id = try entity_id.text("entity_id")
    let entity =
      location.size == 0
      ? try catalogue.entity(id) : try catalogue.entity(id, at: location.location(), nearby: nearby)
    if let entity { try give(entity.json, to: out) }
  }
}

@_cdecl("satchel_catalogue_variants") @implementation
public func satchel_catalogue_variants(
  _ store: OpaquePointer!, _ entity_id: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let variants = try Handles.stores.borrow(store).catalogue.variants(of: entity_id.text("entity_id"))
    try give(.array(variants.map(\.json)), to: out)
  }
}

@_cdecl("satchel_catalogue_near_entities") @implementation
public func satchel_catalogue_near_entities(
  _ store: OpaquePointer!, _ latitude: Double, _ longitude: Double, _ within: Double,
  _ section: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let catalogue = try Handles.stores.borrow(store).catalogue
    let found = try catalogue.nearEntities(
      latitude: latitude, longitude: longitude, within: within,
      section: section.textIfAny("section"))
    try give(.array(found.map(\.json)), to: out)
  }
}

@_cdecl("satchel_catalogue_contexts") @implementation
public func satchel_catalogue_contexts(
  _ store: OpaquePointer!, _ level: satchel_bytes, _ location: satchel_bytes,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let name = try level.text("level")
    let known = Level(name: name)
    guard name.isEmpty || known != nil else {
      throw SatchelError(.invalid, "level: unknown level \"\(name)\"")
    }
    let contexts = try Handles.stores.borrow(store).catalogue.contexts(
      level: known, location: location.locationIfAny())
    try give(.array(contexts.map(\.json)), to: out)
  }
}

@_cdecl("satchel_catalogue_entities") @implementation
public func satchel_catalogue_entities(
  _ store: OpaquePointer!, _ section: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let entities = try Handles.stores.borrow(store).catalogue.entities(of: section.text("section"))
    try give(.array(entities.map(\.json)), to: out)
  }
}

@_cdecl("satchel_catalogue_delete_entity") @implementation
public func satchel_catalogue_delete_entity(
  _ store: OpaquePointer!, _ entity_id: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let receipt = try Handles.stores.borrow(store).catalogue.deleteEntity(entity_id.text("entity_id"))
    if let out { try give(receipt.json, to: out) }
  }
}

@_cdecl("satchel_catalogue_delete_context") @implementation
public func satchel_catalogue_delete_context(
  _ store: OpaquePointer!, _ location: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let receipt = try Handles.stores.borrow(store).catalogue.deleteContext(location.location())
    if let out { try give(receipt.json, to: out) }
  }
}

@_cdecl("satchel_catalogue_set_active_location") @implementation
public func satchel_catalogue_set_active_location(
  _ store: OpaquePointer!, _ location: satchel_bytes
) -> satchel_status {
  guarded {
    let catalogue = try Handles.stores.borrow(store).catalogue
    try catalogue.setActiveLocation(location.locationIfAny())
  }
}

@_cdecl("satchel_catalogue_active_location") @implementation
public func satchel_catalogue_active_location(
  _ store: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    guard let location = try Handles.stores.borrow(store).catalogue.activeLocation() else { return }
    try give(location.json, to: out)
  }
}

@_cdecl("satchel_catalogue_prune") @implementation
public func satchel_catalogue_prune(
  _ store: OpaquePointer!, _ options: UnsafePointer<satchel_prune_options>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let receipt = try Handles.stores.borrow(store).catalogue.prune(PruneOptions(options))
    if let out { try give(receipt.json, to: out) }
  }
}

extension OptionsReader where Options == satchel_read_options {
  var nearby: Double { value(\.nearby) ?? Catalogue.defaultNearby }
}

extension Catalogue {
  fileprivate static func etag(_ options: UnsafePointer<satchel_persist_options>?) throws -> String? {
    guard let etag = try OptionsReader(options).value(\.etag), etag.size > 0 else { return nil }
    return try etag.text("etag")
  }
}

extension Catalogue.Reuse {
  fileprivate init(_ options: UnsafePointer<satchel_persist_options>?) throws {
    switch try OptionsReader(options).choice(\.reuse) {
    case nil, SATCHEL_REUSE_UNLESS_CHANGED.rawValue: self = .unlessChanged
    case SATCHEL_REUSE_UNTIL_EXPIRY.rawValue: self = .untilExpiry
    case let other?: throw SatchelError(.invalid, "options: unknown reuse \(other)")
    }
  }
}

extension PruneOptions {
  fileprivate init(_ options: UnsafePointer<satchel_prune_options>?) throws {
    let reader = try OptionsReader(options)
    self.init()
    expired = reader.flag(\.expired, default: true)
    unreferenced = reader.flag(\.unreferenced)
    if let name = reader.value(\.section), name.size > 0 { section = try name.text("section") }
    if let name = reader.value(\.scope), name.size > 0 {
      let text = try name.text("scope")
      guard let known = Scope(name: text) else {
        throw SatchelError(.invalid, "scope: unknown scope \"\(text)\"")
      }
      scope = known
    }
    if let bytes = reader.value(\.location), bytes.size > 0 { location = try bytes.location() }
    let age = reader.number(\.contexts_unused_for_ms, default: -1)
    if age >= 0 { contextsUnusedFor = age }
    let limit = reader.number(\.max_bytes, default: -1)
    if limit >= 0 { maxBytes = limit }
  }
}
