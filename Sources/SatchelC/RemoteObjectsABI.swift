import CSatchel
import Satchel

@_cdecl("satchel_remote_get") @implementation
public func satchel_remote_get(
  _ remote: OpaquePointer!, _ key: satchel_bytes, _ ifNoneMatch: satchel_bytes,
  _ head: UnsafeMutablePointer<satchel_buffer>!, _ body: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  head?.pointee = satchel_buffer()
  return guarded(emptying: body) { body in
    let object = try client(remote).get(key.text("key"), ifNoneMatch: ifNoneMatch.textIfAny("if_none_match"))
    guard let object else { return }
    try give(object.body, to: body)
    guard let head else { return }
    do {
      try give(object.head.json, to: head)
    } catch {
      satchel_buffer_free(body)
      throw error
    }
  }
}

@_cdecl("satchel_remote_put") @implementation
public func satchel_remote_put(
  _ remote: OpaquePointer!, _ key: satchel_bytes, _ body: satchel_bytes, _ ifMatch: satchel_bytes,
  _ ifAbsent: Bool, _ metadata: satchel_bytes, _ etag: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  etag?.pointee = satchel_buffer()
  return guarded {
    let written = try client(remote).put(
      key.text("key"), Array(body.raw("body")), ifMatch: ifMatch.textIfAny("if_match"), ifAbsent: ifAbsent,
      metadata: metadata.texts("metadata"))
    if let etag { try give(written, to: etag) }
  }
}

@_cdecl("satchel_remote_head") @implementation
public func satchel_remote_head(
  _ remote: OpaquePointer!, _ key: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { try give(client(remote).head(key.text("key")).json, to: $0) }
}

@_cdecl("satchel_remote_delete") @implementation
public func satchel_remote_delete(
  _ remote: OpaquePointer!, _ key: satchel_bytes, _ ifMatch: satchel_bytes
) -> satchel_status {
  guarded { try client(remote).delete(key.text("key"), ifMatch: ifMatch.textIfAny("if_match")) }
}

@_cdecl("satchel_remote_list") @implementation
public func satchel_remote_list(
  _ remote: OpaquePointer!, _ prefix: satchel_bytes, _ after: satchel_bytes, _ limit: Int32,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let page = try client(remote).list(
      prefix.text("prefix"), from: after.textIfAny("after"), limit: Int(limit))
    try give(page.json, to: out)
  }
}

private func client(_ remote: OpaquePointer?) throws -> RemoteClient {
  RemoteClient(try Handles.remotes.borrow(remote).store)
}

extension satchel_bytes {
  /// Returns the bytes parsed as a JSON object of strings; none when they are empty.
  fileprivate func texts(_ name: StaticString) throws -> [String: String] {
    let json = try jsonIfAny(name)
    if json.isNull { return [:] }
    guard let object = json.objectValue else {
      throw SatchelError(.invalid, "\(name): must be an object, is \(json.kind)")
    }
    var texts: [String: String] = [:]
    for (key, value) in object {
      guard let text = value.stringValue else {
        throw SatchelError(.invalid, "\(name): a value must be a string, is \(value.kind)")
      }
      texts[key] = text
    }
    return texts
  }
}
