import SatchelCore
import SatchelStorage

/// How a sensitive asset is stored: in chunks (`AssetSeal`) under a key of its own, which is sealed with the store's key.
/// A change of the store's key rewrites only these rows.
package struct StoredSeal: Sendable {
  /// The name of its file, random, so that it says nothing about the bytes. It is authenticated with each chunk.
  package let name: AssetDigest
  /// The key of the asset, sealed.
  let key: [UInt8]

  /// The size of the sealed bytes.
  static func size(of size: Int64) -> Int64 { AssetLayout(size: size).length }

  /// Returns what opens the bytes of an asset.
  ///
  /// - Throws: `.unauthorized` when the store's key is not set, `.damaged` when the row was modified
  func opened(_ digest: AssetDigest, size: Int64, by keys: Keyring.Keys) throws -> AssetSeal {
    let key = try SealedValue.open(key, by: keys, at: "asset \(digest)", sealedAt: Self.location(name))
    return try AssetSeal(name, size: size, key: key)
  }

  private static func location(_ name: AssetDigest) -> String { "asset/\(name)" }

  static func key(_ key: [UInt8], sealedBy storeKey: EncryptionKey, of name: AssetDigest) -> [UInt8] {
    SealedValue.seal(key, by: storeKey, at: location(name))
  }

  fileprivate func resealed(with key: EncryptionKey, _ keys: Keyring.Keys) throws -> [UInt8] {
    let location = Self.location(name)
    return SealedValue.seal(try SealedValue.open(self.key, by: keys, at: location), by: key, at: location)
  }
}

/// Seals the bytes of an asset as they arrive. Has at most one chunk in memory; nothing else than sealed bytes is written.
struct StoredSealer {
  let name: AssetDigest
  let key: [UInt8]
  private let seal: AssetSeal
  private var buffer: [UInt8] = []
  private var chunk: Int64 = 0

  init() throws {
    key = AssetSeal.newKey()
    name = AssetDigest.random()
    seal = try AssetSeal(name, size: 0, key: key)
  }

  /// Receives bytes.
  ///
  /// - Parameter write: gets each chunk that is complete and not the last one, sealed
  mutating func append(_ bytes: UnsafeRawBufferPointer, _ write: ([UInt8]) throws -> Void) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      if buffer.count == AssetLayout.chunkSize {
        try write(seal.seal(buffer, chunk: chunk, isLast: false))
        buffer.removeAll(keepingCapacity: true)
        chunk += 1
      }
      let part = rest.prefix(Int(AssetLayout.chunkSize) - buffer.count)
      buffer.append(contentsOf: part)
      rest = rest.dropFirst(part.count)
    }
  }

  /// Returns the last chunk, sealed.
  func finish() -> [UInt8] { seal.seal(buffer, chunk: chunk, isLast: true) }
}

// MARK: - Rows

extension AssetTable {
  /// Records that the bytes of an asset are stored sealed.
  func setSeal(_ sealer: StoredSealer, of id: Int64, by key: EncryptionKey) throws {
    let sealed = StoredSeal.key(sealer.key, sealedBy: key, of: sealer.name)
    try sealer.name.bytes.withUnsafeBytes { name in
      try sealed.withUnsafeBytes { sealed in
        try connection.run(
          "INSERT OR REPLACE INTO asset_seal(asset, name, key) VALUES(?, ?, ?)", .integer(id), .blob(name),
          .blob(sealed))
      }
    }
  }

  package func isSensitive(_ digest: AssetDigest) throws -> Bool { try row(digest)?.seal != nil }

  /// Whether a row names a file of the folder.
  func namesFile(_ name: AssetDigest) throws -> Bool {
    if let row = try row(name), row.place == .file, row.seal == nil { return true }
    return try sealedAsset(inFile: name)?.place == .file
  }

  /// The asset that is sealed in a file of the folder.
  func sealedAsset(inFile name: AssetDigest) throws -> Row? {
    try name.bytes.withUnsafeBytes {
      try connection.numberIfAny("SELECT asset FROM asset_seal WHERE name = ?", .blob($0))
    }.flatMap { try row($0) }
  }
}

extension AssetStore {
  /// Registers the keys of sensitive assets with the keyring.
  package static func registerSealed(in database: Database) {
    database.keyring.register(
      Keyring.Sealed(
        of: AssetSchema.subject.name,
        find: { name, connection in
          guard try AssetTable.exists(in: connection) else { return nil }
          return try name.withUnsafeBytes { name in
            try connection.first("SELECT 1 FROM asset_seal WHERE substr(key, 2, 8) <> ? LIMIT 1", .blob(name))
            {
              _ in "sensitive assets"
            }
          }
        },
        reseal: { key, keys, transaction in
          guard try AssetTable.exists(in: transaction.connection) else { return }
          try reseal(with: key, keys, transaction.connection)
        }))
  }

  private static func reseal(
    with key: EncryptionKey, _ keys: Keyring.Keys, _ connection: Connection
  ) throws {
    for id in try connection.numbers("SELECT asset FROM asset_seal ORDER BY asset") {
      guard let seal = try AssetTable(connection).row(id)?.seal else { continue }
      let sealed = try seal.resealed(with: key, keys)
      try sealed.withUnsafeBytes {
        try connection.run("UPDATE asset_seal SET key = ? WHERE asset = ?", .blob($0), .integer(id))
      }
    }
  }
}
