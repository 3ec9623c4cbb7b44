import CSatchel
import Satchel
import SatchelCore
import SatchelJSON
import SatchelStorage

@_cdecl("satchel_records_list") @implementation
public func satchel_records_list(
  _ records: OpaquePointer!, _ query: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    var bytes: [UInt8] = []
    try Handles.records.borrow(records).writeList(query.recordQuery(), into: &bytes)
    try give(bytes, to: out)
  }
}

@_cdecl("satchel_records_count") @implementation
public func satchel_records_count(
  _ records: OpaquePointer!, _ query: satchel_bytes, _ count: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  guarded(returning: count, named: "count", orElse: 0) {
    try Int64(Handles.records.borrow(records).count(query.recordQuery()))
  }
}

@_cdecl("satchel_records_page") @implementation
public func satchel_records_page(
  _ records: OpaquePointer!, _ query: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    var bytes: [UInt8] = []
    try Handles.records.borrow(records).writePage(query.recordQuery(), into: &bytes)
    try give(bytes, to: out)
  }
}

@_cdecl("satchel_records_explain") @implementation
public func satchel_records_explain(
  _ records: OpaquePointer!, _ query: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    try give(Handles.records.borrow(records).explain(query.recordQuery()).json.serialized(), to: out)
  }
}

@_cdecl("satchel_records_aggregate") @implementation
public func satchel_records_aggregate(
  _ records: OpaquePointer!, _ query: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let query = try query.raw("query").isEmpty ? [:] : query.json("query")
    let groups = try Handles.records.borrow(records).aggregate(json: query)
    try give(JSONValue.array(groups.map(\.json)).serialized(), to: out)
  }
}

@_cdecl("satchel_records_search") @implementation
public func satchel_records_search(
  _ records: OpaquePointer!, _ query: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    var bytes: [UInt8] = []
    try Handles.records.borrow(records).writeSearch(json: query.json("query"), into: &bytes)
    try give(bytes, to: out)
  }
}

@_cdecl("satchel_records_near") @implementation
public func satchel_records_near(
  _ records: OpaquePointer!, _ query: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    var bytes: [UInt8] = []
    try Handles.records.borrow(records).writeNear(json: query.json("query"), into: &bytes)
    try give(bytes, to: out)
  }
}

@_cdecl("satchel_records_update_where") @implementation
public func satchel_records_update_where(
  _ records: OpaquePointer!, _ where: satchel_bytes, _ patch: satchel_bytes,
  _ count: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  guarded(storing: count) {
    try Int64(Handles.records.borrow(records).update(where: `where`.recordFilter(), patch.json("patch")))
  }
}

@_cdecl("satchel_records_delete_where") @implementation
public func satchel_records_delete_where(
  _ records: OpaquePointer!, _ where: satchel_bytes, _ count: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  guarded(storing: count) {
    try Int64(Handles.records.borrow(records).delete(where: `where`.recordFilter()))
  }
}

@_cdecl("satchel_records_upsert") @implementation
public func satchel_records_upsert(
  _ records: OpaquePointer!, _ path: satchel_bytes, _ document: satchel_bytes, _ new_id: satchel_bytes,
  _ revision: UnsafeMutablePointer<Int64>!, _ id: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  id?.pointee = satchel_buffer()
  return guarded(storing: revision) {
    ThreadWarnings.clear()
    let (found, receipt) = try Handles.records.borrow(records).upsert(
      path.text("path"), document.raw("document"), newID: new_id.textIfAny("new_id"))
    ThreadWarnings.set(receipt.warnings)
    if let id { try give(Array(found.utf8), to: id) }
    return receipt.revision
  }
}

extension satchel_bytes {
  /// Returns the bytes parsed as a query; empty bytes select all records.
  func recordQuery() throws -> RecordQuery {
    try raw("query").isEmpty ? RecordQuery() : try RecordQuery(json: json("query"))
  }

  /// Returns the bytes parsed as a condition; nil when they are empty.
  fileprivate func recordFilter() throws -> RecordFilter? {
    guard try !raw("where").isEmpty else { return nil }
    let condition = try json("where")
    return try naming("where") { try RecordFilter(json: condition) }
  }
}
