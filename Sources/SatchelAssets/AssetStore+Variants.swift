import SatchelCore
import SatchelStorage

extension AssetStore {
  /// Returns a variant of an asset, such as a thumbnail: derived from it once, kept in the store, and the first that
  /// `prune` removes, because it can be made again.
  ///
  /// - Parameters:
  ///   - asset: must be `here`, unless the variant is
  ///   - name: what the variant is, 1 to 128 bytes, such as "thumb@2"; another name makes another variant
  ///   - make: makes the variant from the asset's bytes, and returns it with its media type. It may use the store, but not
  ///     close it, and may be called twice when two threads ask at once.
  /// - Returns: the reference to the variant
  /// - Throws: as `open` and `put`, and what `make` throws; `.invalid` for a wrong name or type
  public func variant(
    of asset: Asset, named name: String, _ make: (AssetReader) throws -> (bytes: [UInt8], type: String?)
  ) throws -> Asset {
    try variant(of: asset, named: name) { reader, writer in
      let made = try make(reader)
      try writer.append(made.bytes)
      return made.type
    }
  }

  /// Returns a JPEG or PNG scaled down, as a variant: upright, never larger than the picture, without its metadata.
  ///
  /// - Parameters:
  ///   - longestEdge: the longer one of width and height, in pixels
  ///   - asset: must be `here`, unless the variant is; other formats need a function of the host, see
  ///     `variant(of:named:_:)`
  /// - Throws: as `open`; `SatchelError` `.invalid` for a picture that is damaged, too large, or neither JPEG nor PNG; `.io`
  ///   where libturbojpeg or libpng is not installed
  public func scaled(_ asset: Asset, to longestEdge: Int) throws -> Asset {
    try variant(of: asset, named: Self.name(scaledTo: longestEdge)) { reader in
      try Self.scaled(reader.read(Int(clamping: reader.size), at: 0), to: longestEdge)
    }
  }

  package static func name(scaledTo longestEdge: Int) -> String { "scaled@\(longestEdge)" }

  package static func scaled(_ bytes: [UInt8], to longestEdge: Int) throws -> (bytes: [UInt8], type: String?)
  {
    let image = try bytes.withUnsafeBytes { try ScaledImage.make(of: $0, longestEdge: longestEdge) }
    return (image.bytes, image.type)
  }

  /// Returns a variant of an asset, as `variant(of:named:_:)` does, whose bytes `make` appends one after the other; memory
  /// stays bounded.
  ///
  /// - Parameter make: appends the bytes, and returns the media type
  public func variant(
    of asset: Asset, named name: String, _ make: (AssetReader, AssetWriter) throws -> String?
  ) throws -> Asset {
    let digest = try asset.digest ?? read({ try $0.find(asset)?.digest }) ?? nil
    if let digest, let known = try knownVariant(of: digest.bytes, named: name) { return known }
    let reader = try open(asset)
    return try makeVariant(of: AssetDigest(reader.sha256)?.bytes ?? [], named: name) { writer in
      try HostWork.calling("a function that makes a variant", for: work) { try make(reader, writer) }
    }
  }

  /// Returns a variant of a photo.
  ///
  /// - Parameters:
  ///   - md5: of the photo, 16 bytes
  ///   - make: appends the bytes, and returns the media type
  package func variant(
    ofPhoto md5: [UInt8], named name: String, _ make: (AssetWriter) throws -> String?
  ) throws -> Asset {
    if let known = try knownVariant(of: md5, named: name) { return known }
    return try makeVariant(of: md5, named: name, make)
  }

  private func makeVariant(
    of origin: [UInt8], named name: String, _ make: (AssetWriter) throws -> String?
  ) throws -> Asset {
    guard (1...128).contains(name.utf8.count), !name.utf8.contains(0) else {
      throw SatchelError(.invalid, "name: must have 1 to 128 bytes, without NUL")
    }
    var type: String?
    func write(_ writer: AssetWriter) throws {
      type = try make(writer)
      if let type, !Asset.isType(type) { throw SatchelError(.invalid, "type: \(Asset.typeRule)") }
    }
    // A variant of a sensitive asset is sensitive.
    let isSensitive =
      try AssetDigest(origin).flatMap { digest in try read { try $0.isSensitive(digest) } } ?? false
    var made = try put(isSensitive: isSensitive, expecting: nil, write) { table, variant, transaction in
      // A variant of itself would never be removed.
      guard try table.digest(variant)?.bytes != origin else { return }
      if let digest = AssetDigest(origin) { _ = try table.made(digest, size: nil, now: transaction.now) }
      try origin.withUnsafeBytes {
        try table.connection.run(
          "INSERT OR REPLACE INTO asset_variant(origin, name, variant, type) VALUES(?, ?, ?, ?)", .blob($0),
          .text(name), .integer(variant), Binding(type))
      }
    }
    made.type = type
    return made
  }

  private func knownVariant(of origin: [UInt8], named name: String) throws -> Asset? {
    try read { table in
      let found = try origin.withUnsafeBytes {
        try table.connection.first(
          "SELECT variant, type FROM asset_variant WHERE origin = ? AND name = ?", .blob($0), .text(name)
        ) { (id: try $0.integer(0, in: AssetSchema.ids), type: $0.textIfAny(1)) }
      }
      guard let found, let row = try table.row(found.id), row.place != .absent,
        let digest = try table.digest(found.id)
      else { return nil }
      noteRead(of: found.id)
      return Asset(digest, size: row.size, type: found.type)
    } ?? nil
  }
}
