import CSatchel
import Satchel

/// The bytes of an asset that a function of the host delivers. Its handle is valid until that function returns.
final class HostAssetWriter: Sendable {
  /// The members that the function has set, beside the bytes; invalid UTF-8 counts as not set.
  struct Content {
    var writer: AssetWriter
    /// The first failure to append.
    var failure: (any Error)?
    var type: String?
    var etag: String?
    var message: String?
  }

  private let content: Locked<Content>
  private let isCancelled: @Sendable () -> Bool

  private init(_ writer: AssetWriter, _ isCancelled: @escaping @Sendable () -> Bool) {
    content = Locked(Content(writer: writer))
    self.isCancelled = isCancelled
  }

  /// Calls a function of the host with a handle for the bytes, and returns its result and what it has set.
  ///
  /// - Throws: the failure to append, which the function may have ignored
  static func of<Result>(
    _ writer: AssetWriter, isCancelled: @escaping @Sendable () -> Bool = { false },
    _ call: (OpaquePointer?) -> Result
  ) throws -> (Result, Content) {
    let host = HostAssetWriter(writer, isCancelled)
    let handle = Handles.assetWriters.insert(host)
    let result = call(handle)
    _ = Handles.assetWriters.remove(handle)
    let content = host.content.withLock { $0 }
    if let failure = content.failure { throw failure }
    return (result, content)
  }

  /// Calls a function of the host that makes an asset, and returns the media type that it has set.
  ///
  /// - Throws: `SatchelError` `.invalid` with the cause that it has set, when it returns false; as `of`
  static func made(
    by writer: AssetWriter, _ name: String, _ call: (OpaquePointer?) -> Bool
  ) throws -> String? {
    let (isMade, content) = try of(writer, call)
    if isMade { return content.type }
    let reason = content.message ?? "the host's function gave no reason"
    throw SatchelError(.invalid, "\(name) was not made: \(reason)")
  }

  func append(_ bytes: UnsafeRawBufferPointer) throws {
    try content.withLock { content in
      do {
        try content.writer.append(bytes)
      } catch {
        content.failure = content.failure ?? error
        throw error
      }
    }
  }

  /// Whether the call that asks was cancelled; false for an invalid handle.
  static func isCancelled(_ handle: OpaquePointer?) -> Bool {
    (try? Handles.assetWriters.borrow(handle))?.isCancelled() ?? false
  }

  /// Changes what is set; ignores an invalid handle, and invalid text.
  static func set(
    _ handle: OpaquePointer?, _ member: WritableKeyPath<Content, String?>, to text: () throws -> String
  ) {
    guard let host = try? Handles.assetWriters.borrow(handle), let text = try? text() else { return }
    host.content.withLock { $0[keyPath: member] = text }
  }
}

@_cdecl("satchel_asset_writer_append") @implementation
public func satchel_asset_writer_append(_ writer: OpaquePointer!, _ bytes: satchel_bytes) -> satchel_status {
  guarded { try Handles.assetWriters.borrow(writer).append(bytes.raw("bytes")) }
}

@_cdecl("satchel_asset_writer_type") @implementation
public func satchel_asset_writer_type(_ writer: OpaquePointer!, _ type: satchel_bytes) {
  HostAssetWriter.set(writer, \.type) { try type.text("type") }
}

@_cdecl("satchel_asset_writer_etag") @implementation
public func satchel_asset_writer_etag(_ writer: OpaquePointer!, _ etag: satchel_bytes) {
  HostAssetWriter.set(writer, \.etag) { try etag.text("etag") }
}

@_cdecl("satchel_asset_writer_message") @implementation
public func satchel_asset_writer_message(_ writer: OpaquePointer!, _ message: satchel_bytes) {
  // Invalid UTF-8 is replaced: the message is only displayed.
  HostAssetWriter.set(writer, \.message) {
    try String(decoding: message.raw("message").prefix(1000), as: UTF8.self)
  }
}

@_cdecl("satchel_asset_writer_cancelled") @implementation
public func satchel_asset_writer_cancelled(_ writer: OpaquePointer!) -> Bool {
  HostAssetWriter.isCancelled(writer)
}

@_cdecl("satchel_assets_fetch") @implementation
public func satchel_assets_fetch(
  _ store: OpaquePointer!, _ references: satchel_bytes, _ fetch: satchel_asset_fetch!,
  _ options: UnsafePointer<satchel_asset_fetch_options>!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  out?.pointee = satchel_buffer()
  return guarded {
    try fetchAssets(store, references, options, out) { context in
      guard let fetch else { throw SatchelError(.invalid, "fetch is NULL") }
      return { try $0.send(to: fetch, context, $1) }
    }
  }
}

/// Fetches assets.
///
/// - Parameter function: returns what fetches one, for the context of the options
func fetchAssets(
  _ store: OpaquePointer?, _ references: satchel_bytes,
  _ options: UnsafePointer<satchel_asset_fetch_options>?,
  _ out: UnsafeMutablePointer<satchel_buffer>?,
  by function: (UnsafeMutableRawPointer?) throws -> AssetStore.Fetch
) throws {
  let assets = try Handles.stores.borrow(store).assets
  let reader = try OptionsReader(options)
  let context = reader.value(\.context) ?? nil
  let host = HostProgress(reader.value(\.progress) ?? nil, context)
  let fetch = try function(context)
  var wanted = try AssetFetchOptions(reader)
  wanted.isCancelled = host.cancellation.isCancelled
  let report = try assets.fetch(
    references.assets("references"), options: wanted,
    progress: { host.report(assets: $0, of: $1) }, using: fetch)
  if let out { try give(report.json, to: out) }
}

extension AssetRequest {
  /// Asks a function of the host.
  func send(
    to fetch: satchel_asset_fetch, _ context: UnsafeMutableRawPointer?, _ writer: AssetWriter
  ) throws -> AssetResponse {
    let question = try JSONValue.object([
      "url": .string(url), "etag": etag.map { .string($0) } ?? .null,
      "sha256": sha256.map { .string($0) } ?? .null, "max_size": .int(maxSize),
    ]).serialized()
    let (result, content) = try HostAssetWriter.of(writer, isCancelled: isCancelled) { handle in
      lend(question) { fetch(context, $0, handle) }
    }
    return try AssetResponse(result, content)
  }
}

extension AssetFetchOptions {
  init(_ reader: OptionsReader<satchel_asset_fetch_options>) throws {
    self.init()
    func limit(_ number: Int64, _ name: StaticString) throws -> Int64? {
      guard number >= 0 else {
        throw SatchelError(.invalid, "options: \(name): \(number) must not be negative")
      }
      return number == 0 ? nil : number
    }
    maxSize = try limit(reader.number(\.max_size, default: 0), "max_size") ?? maxSize
    maxBytes = try limit(reader.number(\.max_bytes, default: 0), "max_bytes")
    refreshes = reader.flag(\.refresh)
    ignoresBackoff = reader.flag(\.ignore_backoff)
  }
}

extension AssetResponse {
  /// - Throws: `SatchelError` `.unavailable` for a failure
  fileprivate init(_ result: satchel_remote_result, _ content: HostAssetWriter.Content) throws {
    switch result {
    case SATCHEL_REMOTE_OK: self = .fetched(etag: content.etag)
    case SATCHEL_REMOTE_NOT_MODIFIED: self = .notModified
    default: throw SatchelError(.unavailable, content.message ?? Self.reason(result))
    }
  }

  private static func reason(_ result: satchel_remote_result) -> String {
    switch result {
    case SATCHEL_REMOTE_NOT_FOUND: "no such object"
    case SATCHEL_REMOTE_DENIED: "denied"
    case SATCHEL_REMOTE_TRANSIENT, SATCHEL_REMOTE_UNKNOWN: "temporarily unavailable"
    case SATCHEL_REMOTE_FAILED, SATCHEL_REMOTE_PRECONDITION_FAILED: "failed"
    default: "\(Int32(truncatingIfNeeded: result.rawValue)) is not a satchel_remote_result"
    }
  }
}

@_cdecl("satchel_assets_variant") @implementation
public func satchel_assets_variant(
  _ store: OpaquePointer!, _ asset: satchel_bytes, _ name: satchel_bytes, _ make: satchel_asset_variant!,
  _ context: UnsafeMutableRawPointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let assets = try Handles.stores.borrow(store).assets
    guard let make else { throw SatchelError(.invalid, "make is NULL") }
    let variant = try assets.variant(of: asset.asset(), named: name.text("name")) { reader, writer in
      let opened = Handles.assetReaders.insert(reader)
      defer { _ = Handles.assetReaders.remove(opened) }
      return try HostAssetWriter.made(by: writer, "the variant") { make(context, opened, $0) }
    }
    try give(variant.json, to: out)
  }
}

// MARK: Scaled pictures, and declared URLs

@_cdecl("satchel_assets_scaled") @implementation
public func satchel_assets_scaled(
  _ store: OpaquePointer!, _ asset: satchel_bytes, _ longestEdge: Int32,
  _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let assets = try Handles.stores.borrow(store).assets
    try give(assets.scaled(asset.asset(), to: Int(longestEdge)).json, to: out)
  }
}

@_cdecl("satchel_photos_thumbnail") @implementation
public func satchel_photos_thumbnail(
  _ photos: OpaquePointer!, _ md5: satchel_bytes, _ longestEdge: Int32, _ make: satchel_photo_thumbnail!,
  _ context: UnsafeMutableRawPointer!, _ out: UnsafeMutablePointer<satchel_buffer>!
) -> satchel_status {
  guarded(emptying: out) { out in
    let photos = try Handles.photos.borrow(photos)
    let edge = longestEdge == 0 ? 400 : longestEdge
    var append: ((String, AssetWriter) throws -> String?)?
    if let make {
      append = { path, writer in
        try HostAssetWriter.made(by: writer, "\(path): its thumbnail") { handle in
          path.withCString { make(context, $0, edge, handle) }
        }
      }
    }
    try give(photos.thumbnail(of: md5.md5(), longestEdge: Int(edge), appending: append).json, to: out)
  }
}

@_cdecl("satchel_catalogue_assets") @implementation
public func satchel_catalogue_assets(
  _ store: OpaquePointer!, _ section: satchel_bytes, _ paths: satchel_bytes
) -> satchel_status {
  guarded {
    let catalogue = try Handles.stores.borrow(store).catalogue
    try catalogue.declareAssets(of: section.text("section"), paths: paths.textArray("paths"))
  }
}
