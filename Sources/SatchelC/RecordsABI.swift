import CSatchel
import Satchel

@_cdecl("satchel_records_open") @implementation
public func satchel_records_open(
  _ store: OpaquePointer!, _ declaration: satchel_bytes, _ options: UnsafePointer<satchel_records_options>!,
  _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  guarded(returning: out, orElse: nil) {
    let reader = try OptionsReader(options)
    let host = (reader.value(\.migrate) ?? nil).map { HostMigration($0, reader.value(\.context) ?? nil) }
    var declared = try CollectionDeclaration(json: declaration.jsonIfAny("declaration"), callback: host?.body)
    declared.redeclare = reader.flag(\.redeclare)
    let store = try Handles.stores.borrow(store)
    let collection = declared
    return Handles.records.insert(try HostWork.on(store.work) { try store.records(collection) })
  }
}

@_cdecl("satchel_records_warnings") @implementation
public func satchel_records_warnings(
  _ records: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    try give(.array(Handles.records.borrow(records).warnings.map { .string($0) }), to: out)
  }
}

@_cdecl("satchel_store_collections") @implementation
public func satchel_store_collections(
  _ store: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    try give(.array(Handles.stores.borrow(store).collections().map(\.json)), to: out)
  }
}

@_cdecl("satchel_records_put") @implementation
public func satchel_records_put(
  _ records: OpaquePointer!, _ id: satchel_bytes, _ document: satchel_bytes, _ if_revision: Int64,
  _ revision: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  guarded(storing: revision) {
    ThreadWarnings.clear()
    let receipt = try Handles.records.borrow(records).put(
      id.raw("id"), document.raw("document"), ifRevision: expected(if_revision))
    ThreadWarnings.set(receipt.warnings)
    return receipt.revision
  }
}

@_cdecl("satchel_records_put_deferred") @implementation
public func satchel_records_put_deferred(
  _ records: OpaquePointer!, _ id: satchel_bytes, _ document: satchel_bytes
) -> satchel_status {
  guarded { try Handles.records.borrow(records).putDeferred(id.raw("id"), document.raw("document")) }
}

@_cdecl("satchel_records_put_many") @implementation
public func satchel_records_put_many(
  _ records: OpaquePointer!, _ documents: satchel_bytes, _ count: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  guarded(storing: count) {
    ThreadWarnings.clear()
    let written = try Handles.records.borrow(records).putManyWarning(documents.raw("documents"))
    ThreadWarnings.set(written.warnings)
    return Int64(written.count)
  }
}

@_cdecl("satchel_records_put_valid") @implementation
public func satchel_records_put_valid(
  _ records: OpaquePointer!, _ documents: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    ThreadWarnings.clear()
    let report = try Handles.records.borrow(records).putValid(documents.raw("documents"))
    try give(report.json, to: out)
    ThreadWarnings.set(report.warnings)
  }
}

@_cdecl("satchel_records_get") @implementation
public func satchel_records_get(
  _ records: OpaquePointer!, _ id: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    try Handles.records.borrow(records).withDocument(id.raw("id")) { try give($0, to: out) }
  }
}

@_cdecl("satchel_records_record") @implementation
public func satchel_records_record(
  _ records: OpaquePointer!, _ id: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    var bytes: [UInt8] = []
    if try Handles.records.borrow(records).copyRecord(id.raw("id"), to: &bytes) { try give(bytes, to: out) }
  }
}

@_cdecl("satchel_records_delete") @implementation
public func satchel_records_delete(
  _ records: OpaquePointer!, _ id: satchel_bytes, _ if_revision: Int64, _ existed: UnsafeMutablePointer<Bool>!
) -> satchel_status {
  existed?.pointee = false
  return guarded {
    let wasThere = try Handles.records.borrow(records).delete(
      id.raw("id"), ifRevision: expected(if_revision))
    existed?.pointee = wasThere
  }
}

@_cdecl("satchel_records_update") @implementation
public func satchel_records_update(
  _ records: OpaquePointer!, _ id: satchel_bytes, _ patch: satchel_bytes, _ if_revision: Int64,
  _ revision: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  guarded(storing: revision) {
    ThreadWarnings.clear()
    let receipt = try Handles.records.borrow(records).update(
      id.raw("id"), patch.json("patch"), ifRevision: expected(if_revision))
    ThreadWarnings.set(receipt.warnings)
    return receipt.revision
  }
}

@_cdecl("satchel_records_delete_many") @implementation
public func satchel_records_delete_many(
  _ records: OpaquePointer!, _ ids: satchel_bytes, _ count: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  guarded(storing: count) {
    try Int64(Handles.records.borrow(records).deleteMany(ids.textArray("ids")))
  }
}

@_cdecl("satchel_records_watch") @implementation
public func satchel_records_watch(
  _ records: OpaquePointer!, _ query: satchel_bytes, _ callback: satchel_records_watch_callback!,
  _ context: UnsafeMutableRawPointer!, _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!,
  _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  let host = HostContext(context, release)
  return guarded(returning: out, orElse: nil) {
    guard let callback else { throw SatchelError(.invalid, "callback is NULL") }
    nonisolated(unsafe) let notify = callback
    let records = try Handles.records.borrow(records)
    let live = try records.watchJSON(query.raw("query").isEmpty ? [:] : query.json("query")) { error in
      let status = error.map { failed($0) } ?? SATCHEL_OK
      lend(Array((error?.message ?? "").utf8)) { notify(host.address, status, $0) }
    }
    return Handles.observers.insert(ObserverHandle(live: live) { live.cancel() })
  }
}

@_cdecl("satchel_records_watch_result") @implementation
public func satchel_records_watch_result(
  _ live: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    guard let live = try Handles.observers.borrow(live).live else {
      throw SatchelError(.invalid, "the observer is not a live query")
    }
    var bytes: [UInt8] = []
    try live.takeJSON(into: &bytes)
    if !bytes.isEmpty { try give(bytes, to: out) }
  }
}

@_cdecl("satchel_records_typed") @implementation
public func satchel_records_typed(
  _ records: OpaquePointer!, _ known: satchel_bytes, _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  guarded(returning: out, orElse: nil) {
    Handles.records.insert(try Handles.records.borrow(records).writing(known: known.json("known")))
  }
}

@_cdecl("satchel_records_free") @implementation
public func satchel_records_free(_ records: OpaquePointer!) {
  _ = Handles.records.remove(records)
}

/// Returns the revision that the host expects; nil for any.
private func expected(_ revision: Int64) throws -> Int64? {
  guard revision >= Int64(SATCHEL_ANY_REVISION) else {
    throw SatchelError(.invalid, "if_revision: \(revision) is not a revision")
  }
  return revision == Int64(SATCHEL_ANY_REVISION) ? nil : revision
}
