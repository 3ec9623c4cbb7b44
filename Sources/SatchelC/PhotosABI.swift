import CSatchel
import Satchel

@_cdecl("satchel_photos_open") @implementation
public func satchel_photos_open(
  _ store: OpaquePointer!, _ directory: satchel_bytes, _ onConflict: satchel_conflict_policy,
  _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  guarded(returning: out, orElse: nil) {
    let policy = try ConflictPolicy(named: onConflict.rawValue)
    return try Handles.photos.insert(
      Handles.stores.borrow(store).photos(in: directory.text("directory"), onConflict: policy))
  }
}

@_cdecl("satchel_photos_upsert") @implementation
public func satchel_photos_upsert(
  _ photos: OpaquePointer!, _ rows: satchel_bytes, _ changed: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  guarded(storing: changed) {
    let catalogue = try Handles.photos.borrow(photos)
    return try Int64(catalogue.upsert(json: rows.json("rows")))
  }
}

@_cdecl("satchel_photos_get") @implementation
public func satchel_photos_get(
  _ photos: OpaquePointer!, _ md5: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let (catalogue, md5) = (try Handles.photos.borrow(photos), try md5.md5())
    guard let details = try catalogue.photo(md5) else {
      throw SatchelError(.notFound, "there is no photo \(md5)")
    }
    try details.withText { try give($0, to: out) }
  }
}

@_cdecl("satchel_photos_files") @implementation
public func satchel_photos_files(
  _ photos: OpaquePointer!, _ md5: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let files = try Handles.photos.borrow(photos).files(of: md5.md5())
    try give(.array(files.map(\.json)), to: out)
  }
}

@_cdecl("satchel_photos_move") @implementation
public func satchel_photos_move(_ photos: OpaquePointer!, _ directory: satchel_bytes) -> satchel_status {
  guarded { try Handles.photos.borrow(photos).move(to: directory.text("directory")) }
}

@_cdecl("satchel_photos_delete") @implementation
public func satchel_photos_delete(
  _ photos: OpaquePointer!, _ md5s: satchel_bytes, _ deleted: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  guarded(storing: deleted) {
    let catalogue = try Handles.photos.borrow(photos)
    return try Int64(catalogue.delete(MD5.list(json: md5s.json("md5s"))))
  }
}

@_cdecl("satchel_photos_query") @implementation
public func satchel_photos_query(
  _ photos: OpaquePointer!, _ query: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let catalogue = try Handles.photos.borrow(photos)
    try catalogue.query(query.photoQuery()).withText { try give($0, to: out) }
  }
}

@_cdecl("satchel_photos_count") @implementation
public func satchel_photos_count(
  _ photos: OpaquePointer!, _ query: satchel_bytes, _ count: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  guarded(returning: count, named: "count", orElse: 0) {
    try Int64(Handles.photos.borrow(photos).count(query.photoQuery()))
  }
}

@_cdecl("satchel_photos_counts") @implementation
public func satchel_photos_counts(
  _ photos: OpaquePointer!, _ group: satchel_bytes, _ query: satchel_bytes,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let name = try group.text("group")
    guard let group = PhotoGroup(rawValue: name) else {
      let names = PhotoGroup.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
      throw SatchelError(.invalid, "group: must be one of \(names)")
    }
    let counts = try Handles.photos.borrow(photos).counts(by: group, query.photoQuery())
    try give(.array(counts.map(\.json)), to: out)
  }
}

@_cdecl("satchel_photos_trash") @implementation
public func satchel_photos_trash(
  _ photos: OpaquePointer!, _ after: satchel_bytes, _ limit: Int32,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let catalogue = try Handles.photos.borrow(photos)
    let found = try catalogue.trash(limit: Int(limit), after: after.size == 0 ? nil : after.md5("after"))
    try give(page: found, named: "photos", limit: limit, to: out) { .string("\($0.photo.md5)") }
  }
}

@_cdecl("satchel_photos_restore_rows") @implementation
public func satchel_photos_restore_rows(
  _ photos: OpaquePointer!, _ md5s: satchel_bytes, _ restored: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  guarded(storing: restored) {
    let catalogue = try Handles.photos.borrow(photos)
    let given = try md5s.jsonIfAny("md5s")
    return try Int64(catalogue.restoreRows(given == .null ? nil : MD5.list(json: given)))
  }
}

@_cdecl("satchel_photos_empty_trash") @implementation
public func satchel_photos_empty_trash(
  _ photos: OpaquePointer!, _ deleted: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  guarded(storing: deleted) {
    try Handles.photos.borrow(photos).emptyTrash()
  }
}

@_cdecl("satchel_photos_safety") @implementation
public func satchel_photos_safety(
  _ photos: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(Handles.photos.borrow(photos).safety().json, to: $0) }
}

@_cdecl("satchel_photos_status") @implementation
public func satchel_photos_status(
  _ photos: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(Handles.photos.borrow(photos).status().json, to: $0) }
}

@_cdecl("satchel_photos_modified_shards") @implementation
public func satchel_photos_modified_shards(
  _ photos: OpaquePointer!, _ bits: UnsafeMutablePointer<UInt32>!
) -> satchel_status {
  guarded(returning: bits, named: "bits", orElse: 0) {
    try Handles.photos.borrow(photos).modifiedShards().reduce(0) { $0 | 1 << UInt32($1.number) }
  }
}

@_cdecl("satchel_photos_changes") @implementation
public func satchel_photos_changes(
  _ photos: OpaquePointer!, _ after: satchel_bytes, _ limit: Int32,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let catalogue = try Handles.photos.borrow(photos)
    let changes = try catalogue.changes(after: after.size == 0 ? nil : after.md5("after"), limit: Int(limit))
    try give(page: changes, named: "changes", limit: limit, to: out) { .string("\($0.md5)") }
  }
}

@_cdecl("satchel_photos_free") @implementation
public func satchel_photos_free(_ photos: OpaquePointer!) {
  // Errors are ignored: leases that cannot be released now are reclaimed once this process has ended.
  try? Handles.photos.remove(photos)?.close()
}

extension satchel_bytes {
  /// Returns the bytes parsed as a photo's MD5.
  func md5(_ name: StaticString = "md5") throws -> MD5 {
    let text = try text(name)
    guard let md5 = MD5(text) else {
      throw SatchelError(.invalid, "\(name): \"\(text.prefix(64))\" is not 32 hexadecimal digits")
    }
    return md5
  }

  /// Returns the bytes parsed as a query; empty bytes select all photos.
  fileprivate func photoQuery() throws -> PhotoQuery {
    let query = try jsonIfAny("query")
    return query == .null ? PhotoQuery() : try PhotoQuery(json: query)
  }
}

@_cdecl("satchel_photos_set_local") @implementation
public func satchel_photos_set_local(
  _ photos: OpaquePointer!, _ md5: satchel_bytes, _ columns: satchel_bytes
) -> satchel_status {
  guarded { try Handles.photos.borrow(photos).setLocal(md5.md5(), json: columns.json("columns")) }
}

@_cdecl("satchel_photos_star") @implementation
public func satchel_photos_star(
  _ photos: OpaquePointer!, _ md5: satchel_bytes, _ starred: Bool
) -> satchel_status {
  guarded { try Handles.photos.borrow(photos).star(md5.md5(), starred) }
}

@_cdecl("satchel_photos_backup_queue") @implementation
public func satchel_photos_backup_queue(_ photos: OpaquePointer!, _ md5: satchel_bytes) -> satchel_status {
  guarded { try Handles.photos.borrow(photos).queueBackup(md5.md5()) }
}

@_cdecl("satchel_photos_backup_claim") @implementation
public func satchel_photos_backup_claim(
  _ photos: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(Handles.photos.borrow(photos).claimBackup()?.json ?? .null, to: $0) }
}

@_cdecl("satchel_photos_backup_done") @implementation
public func satchel_photos_backup_done(_ photos: OpaquePointer!, _ md5: satchel_bytes) -> satchel_status {
  guarded { try Handles.photos.borrow(photos).finishBackup(md5.md5()) }
}

@_cdecl("satchel_photos_backup_failed") @implementation
public func satchel_photos_backup_failed(
  _ photos: OpaquePointer!, _ md5: satchel_bytes, _ error: satchel_bytes
) -> satchel_status {
  guarded { try Handles.photos.borrow(photos).failBackup(md5.md5(), reason: error.text("error")) }
}
