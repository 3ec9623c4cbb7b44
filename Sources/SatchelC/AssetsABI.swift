import CSatchel
import Satchel

// MARK: Putting

@_cdecl("satchel_assets_put") @implementation
public func satchel_assets_put(
  _ store: OpaquePointer!, _ bytes: satchel_bytes, _ type: satchel_bytes, _ sensitive: Bool,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let assets = try Handles.stores.borrow(store).assets
    let asset = try assets.put(bytes.raw("bytes"), type: type.textIfAny("type"), isSensitive: sensitive)
    try give(asset.json, to: out)
  }
}

@_cdecl("satchel_assets_put_file") @implementation
public func satchel_assets_put_file(
  _ store: OpaquePointer!, _ path: UnsafePointer<CChar>!, _ type: satchel_bytes, _ sensitive: Bool,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let assets = try Handles.stores.borrow(store).assets
    let asset = try assets.put(
      contentsOf: text(path, "path"), type: type.textIfAny("type"), isSensitive: sensitive)
    try give(asset.json, to: out)
  }
}

@_cdecl("satchel_assets_put_stream") @implementation
public func satchel_assets_put_stream(
  _ store: OpaquePointer!, _ read: satchel_asset_source!, _ context: UnsafeMutableRawPointer!,
  _ type: satchel_bytes, _ sensitive: Bool, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let assets = try Handles.stores.borrow(store).assets
    guard let read else { throw SatchelError(.invalid, "read is NULL") }
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { buffer.deallocate() }
    let asset = try assets.put(type: type.textIfAny("type"), isSensitive: sensitive) { writer in
      while true {
        let count = read(context, buffer.baseAddress, buffer.count)
        if count == 0 { return }
        guard count > 0 else { throw SatchelError(.cancelled, "the host's stream was cancelled") }
        guard count <= buffer.count else {
          throw SatchelError(.invalid, "read: returned \(count) for a buffer of \(buffer.count) bytes")
        }
        try writer.append(UnsafeRawBufferPointer(rebasing: buffer[..<Int(count)]))
      }
    }
    try give(asset.json, to: out)
  }
}

// MARK: Reading

@_cdecl("satchel_assets_info") @implementation
public func satchel_assets_info(
  _ store: OpaquePointer!, _ asset: satchel_bytes, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    try give(Handles.stores.borrow(store).assets.info(of: asset.asset()).json, to: out)
  }
}

@_cdecl("satchel_assets_read") @implementation
public func satchel_assets_read(
  _ store: OpaquePointer!, _ asset: satchel_bytes, _ offset: Int64, _ count: Int64,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let reader = try Handles.stores.borrow(store).assets.open(asset.asset())
    var buffer = HostBuffer()
    try buffer.append(reader.available(count, at: offset)) { try reader.read(into: $0, at: offset) }
    try buffer.give(to: out)
  }
}

@_cdecl("satchel_assets_open") @implementation
public func satchel_assets_open(
  _ store: OpaquePointer!, _ asset: satchel_bytes, _ verify: Bool,
  _ out: UnsafeMutablePointer<OpaquePointer?>!
) -> satchel_status {
  guarded(returning: out, orElse: nil) {
    let assets = try Handles.stores.borrow(store).assets
    return Handles.assetReaders.insert(try assets.open(asset.asset(), verifying: verify))
  }
}

@_cdecl("satchel_asset_reader_read") @implementation
public func satchel_asset_reader_read(
  _ reader: OpaquePointer!, _ offset: Int64, _ buffer: UnsafeMutableRawPointer!, _ capacity: Int,
  _ count: UnsafeMutablePointer<Int>!
) -> satchel_status {
  guarded(returning: count, named: "count", orElse: 0) {
    let reader = try Handles.assetReaders.borrow(reader)
    // A `size_t` over Int.max is imported as a negative number.
    guard capacity >= 0 else { throw SatchelError(.invalid, "capacity: invalid size \(capacity)") }
    guard buffer != nil || capacity == 0 else {
      throw SatchelError(.invalid, "buffer is NULL, capacity is \(capacity)")
    }
    return try reader.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: capacity), at: offset)
  }
}

@_cdecl("satchel_asset_reader_size") @implementation
public func satchel_asset_reader_size(
  _ reader: OpaquePointer!, _ size: UnsafeMutablePointer<Int64>!
) -> satchel_status {
  guarded(returning: size, named: "size", orElse: 0) { try Handles.assetReaders.borrow(reader).size }
}

@_cdecl("satchel_asset_reader_path") @implementation
public func satchel_asset_reader_path(
  _ reader: OpaquePointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in try give(Handles.assetReaders.borrow(reader).path, to: out) }
}

@_cdecl("satchel_asset_reader_free") @implementation
public func satchel_asset_reader_free(_ reader: OpaquePointer!) {
  _ = Handles.assetReaders.remove(reader)
}

@_cdecl("satchel_assets_list") @implementation
public func satchel_assets_list(
  _ store: OpaquePointer!, _ options: UnsafePointer<satchel_asset_list_options>!,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let assets = try Handles.stores.borrow(store).assets
    let reader = try OptionsReader(options)
    let after = try reader.value(\.after)?.text("after") ?? ""
    let limit = reader.number(\.limit, default: 0)
    let page = try assets.list(
      state: AssetState(reader.choice(\.state) ?? 0), unused: isUnused(reader.choice(\.usage) ?? 0),
      after: after.isEmpty ? nil : after, limit: limit == 0 ? 100 : Int(limit))
    try give(page.json, to: out)
  }
}

// MARK: Keeping

@_cdecl("satchel_assets_prune") @implementation
public func satchel_assets_prune(
  _ store: OpaquePointer!, _ maxBytes: Int64, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let report = try Handles.stores.borrow(store).assets.prune(maxBytes: maxBytes == .max ? nil : maxBytes)
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_assets_verify") @implementation
public func satchel_assets_verify(
  _ store: OpaquePointer!, _ deep: Bool, _ progress: satchel_progress_callback!,
  _ context: UnsafeMutableRawPointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let host = HostProgress(progress, context)
    let report = try Handles.stores.borrow(store).assets.verify(deep: deep) {
      host.report(assets: $0, of: $1)
    }
    if let out { try give(report.json, to: out) }
  }
}

extension HostProgress {
  func report(assets done: Int, of total: Int) -> Bool {
    report(["assets_done": .int(Int64(done)), "assets_total": .int(Int64(total))])
  }
}

// MARK: Arguments

extension satchel_bytes {
  /// Returns the bytes parsed as a reference to an asset.
  func asset(_ name: StaticString = "asset") throws -> Asset {
    let json = try json(name)
    return try naming("\(name)") { try Asset(json: json) }
  }

  /// Returns the bytes parsed as an array of references.
  func assets(_ name: StaticString) throws -> [Asset] {
    guard let elements = try json(name).arrayValue else {
      throw SatchelError(.invalid, "\(name): not an array of references to assets")
    }
    return try elements.enumerated().map { index, element in
      do {
        return try Asset(json: element)
      } catch let error as JSONError {
        throw SatchelError(
          JSONError(error.reason, pointer: "/\(index)\(error.pointer ?? "")"), in: "\(name)")
      }
    }
  }

}

extension AssetState {
  /// Converts a `satchel_asset_state`; nil for SATCHEL_ASSET_ANY.
  fileprivate init?(_ number: satchel_asset_state.RawValue) throws {
    switch satchel_asset_state(rawValue: number) {
    case SATCHEL_ASSET_ANY: return nil
    case SATCHEL_ASSET_HERE: self = .here
    case SATCHEL_ASSET_REMOTE: self = .remote
    case SATCHEL_ASSET_MISSING: self = .missing
    default: throw SatchelError(.invalid, "options: state: \(number) is not a satchel_asset_state")
    }
  }
}

private func isUnused(_ number: satchel_asset_usage.RawValue) throws -> Bool? {
  switch satchel_asset_usage(rawValue: number) {
  case SATCHEL_ASSET_USED_OR_NOT: return nil
  case SATCHEL_ASSET_USED: return false
  case SATCHEL_ASSET_UNUSED: return true
  default: throw SatchelError(.invalid, "options: usage: \(number) is not a satchel_asset_usage")
  }
}

// MARK: The remote

@_cdecl("satchel_assets_fetch_remote") @implementation
public func satchel_assets_fetch_remote(
  _ store: OpaquePointer!, _ references: satchel_bytes, _ remote: OpaquePointer!,
  _ options: UnsafePointer<satchel_asset_fetch_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    let (store, remote) = (try Handles.stores.borrow(store), try Handles.remotes.borrow(remote).store)
    let reader = try OptionsReader(options)
    let host = HostProgress(reader.value(\.progress) ?? nil, reader.value(\.context) ?? nil)
    let report = try store.fetchAssets(
      references.assets("references"), from: remote, maxBytes: AssetFetchOptions(reader).maxBytes,
      cancellation: host.cancellation
    ) { host.report(assets: $0, of: $1) }
    if let out { try give(report.json, to: out) }
  }
}

@_cdecl("satchel_assets_read_remote") @implementation
public func satchel_assets_read_remote(
  _ store: OpaquePointer!, _ asset: satchel_bytes, _ remote: OpaquePointer!, _ offset: Int64, _ count: Int32,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let (store, remote) = (try Handles.stores.borrow(store), try Handles.remotes.borrow(remote).store)
    try give(store.assetBytes(of: asset.asset(), from: offset, count: Int(count), remote: remote), to: out)
  }
}
