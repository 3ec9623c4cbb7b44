import CSatchel
import Satchel

@_cdecl("satchel_remote_directory") @implementation
public func satchel_remote_directory(
  _ path: satchel_bytes, _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  making(out) { try DirectoryStore(path: path.text("path")) }
}

@_cdecl("satchel_remote_s3") @implementation
public func satchel_remote_s3(
  _ options: satchel_bytes, _ credentials: satchel_remote_credentials_callback!,
  _ context: UnsafeMutableRawPointer!, _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!,
  _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  let host = HostContext(context, release)
  return making(out) {
    try S3Store(json: options.json("options"), credentials: CredentialSource(credentials, host))
  }
}

extension CredentialSource {
  /// Wraps the host's function; nil for NULL.
  fileprivate convenience init?(_ function: satchel_remote_credentials_callback?, _ host: HostContext) {
    guard let function else { return nil }
    // By the header's contract it may be called on any thread.
    nonisolated(unsafe) let ask = function
    self.init {
      try RemoteResult(about: "the credentials", limit: 1 << 20) { ask(host.address, $0) }.credentials()
    }
  }
}

@_cdecl("satchel_remote_callbacks") @implementation
public func satchel_remote_callbacks(
  _ operations: UnsafePointer<satchel_remote_operations>!, _ context: UnsafeMutableRawPointer!,
  _ release: (@convention(c) (UnsafeMutableRawPointer?) -> Void)!,
  _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  let host = HostContext(context, release)
  return making(out) {
    let identity = try (OptionsReader(operations).value(\.identity) ?? satchel_bytes()).text("identity")
    guard identity.utf8.count <= 1024 else {
      throw SatchelError(.invalid, "identity: must have at most 1024 bytes")
    }
    return try CallbackStore(HostCalls(operations, host), identity: identity.isEmpty ? nil : identity)
  }
}

@_cdecl("satchel_remote_probe") @implementation
public func satchel_remote_probe(
  _ remote: OpaquePointer!, _ prefix: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let store = try Handles.remotes.borrow(remote).store
    let under = try ObjectPrefix(prefix.text("prefix"))
    try give(RemoteProbe().probe(store, under: under).json, to: out)
  }
}

@_cdecl("satchel_remote_free") @implementation
public func satchel_remote_free(_ remote: OpaquePointer!) {
  _ = Handles.remotes.remove(remote)
}

private func making(
  _ out: UnsafeMutablePointer<OpaquePointer?>?, _ make: () throws -> any ObjectStore
) -> satchel_status {
  guarded(returning: out, orElse: nil) { Handles.remotes.insert(Remote(try make())) }
}
