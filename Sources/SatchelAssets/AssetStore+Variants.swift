import SatchelCore
import SatchelStorage

extension AssetStore {
  /// Returns a variant of an asset, such as a thumbnail: derived from it once, kept in the store, and the first that
  /// `prune` removes, because it can be made again.
  ///
  /// - Parameters:
  ///   - asset: must be `here`, unless the variant is
  ///   - name: what the variant is, 1 to 128 bytes, such as "thumb@2"; another name makes another variant
  ///   - make: makes the variant from the asset's bytes, and returns it with its media type. It may use the store, and may
  ///     be called twice when two threads ask at once.
  /// - Returns: the reference to the variant
  /// - Throws: as `open` and `put`, and what `make` throws
  public func variant(
    of asset: Asset, named name: String, _ make: (AssetReader) throws -> (bytes: [UInt8], type: String?)
  ) throws -> Asset {
    try variant(of: asset, named: name) { reader, writer in
      let made = try make(reader)
      try writer.append(made.bytes)
      return made.type
    }
  }

  /// - Parameter make: appends the bytes, and returns the media type
  package func variant(
    of asset: Asset, named name: String, _ make: (AssetReader, AssetWriter) throws -> String?
  ) throws -> Asset {
    guard (1...128).contains(name.utf8.count), !name.utf8.contains(0) else {
      throw SatchelError(.invalid, "name: must have 1 to 128 bytes, without NUL")
    }
    if let known = try knownVariant(of: asset, named: name) { return known }
    let reader = try open(asset)
    guard let digest = AssetDigest(reader.sha256) else { throw SatchelError(.internal, "a reader has a SHA-256") }
    var type: String?
    var made = try put(expecting: nil, { type = try make(reader, $0) }) { table, variant, transaction in
      let origin = try table.made(digest, size: reader.size, now: transaction.now)
      // A variant of itself would never be removed.
      guard origin.id != variant else { return }
      try table.connection.run(
        "INSERT OR REPLACE INTO asset_variant(asset, name, variant) VALUES(?, ?, ?)", .integer(origin.id),
        .text(name), .integer(variant))
    }
    if let type, !Asset.isType(type) { throw SatchelError(.invalid, "type: \(Asset.typeRule)") }
    made.type = type
    return made
  }

  private func knownVariant(of asset: Asset, named name: String) throws -> Asset? {
    try read { table in
      guard let (origin, _) = try table.find(asset),
        let id = try table.connection.numberIfAny(
          "SELECT variant FROM asset_variant WHERE asset = ? AND name = ?", .integer(origin.id), .text(name)),
        let row = try table.row(id), row.place != .absent, let digest = try table.digest(id)
      else { return nil }
      return Asset(digest, size: row.size)
    } ?? nil
  }
}
