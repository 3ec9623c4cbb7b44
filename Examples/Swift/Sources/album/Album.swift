import Foundation
import Satchel

/// The photos of a holiday, on a phone and on a tablet: both keep a catalogue of them, and agree on it through a
/// remote copy in an object store. Here both devices are in one program, and the store is a directory, or S3 when
/// SATCHEL_S3_BUCKET names a bucket (SATCHEL_S3_ENDPOINT where it is not with AWS, and AWS_ACCESS_KEY_ID and so on).
/// Usage: album folder, which is made
@main
struct Album {
  static func main() throws {
    guard CommandLine.arguments.count == 2 else {
      FileHandle.standardError.write(Data("Usage: album folder, which must not exist\n".utf8))
      exit(2)
    }
    let folder = CommandLine.arguments[1]
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let remote = try openRemote(in: folder)
    let phone = try Device("phone", in: folder)
    let tablet = try Device("tablet", in: folder)

    print("The phone took 4 photos of the holiday.")
    try phone.add("3a1e5c0d9b7f48263a1e5c0d9b7f4826", "Tram 28.jpg", taken: 1_719_822_000)
    try phone.add("3c90d1f2e3a4b5c63c90d1f2e3a4b5c6", "IMG_0042.jpg", taken: 1_719_954_840)
    try phone.add("a4d27e8f10293b4ca4d27e8f10293b4c", "Belem.jpg", taken: 1_720_010_700)
    try phone.add("f0178a6b5c4d3e2ff0178a6b5c4d3e2f", "Cake.jpg", taken: 1_720_013_400)
    try phone.sync(with: remote)
    try tablet.sync(with: remote)

    print("\nWithout a network, each names the same photo, and the tablet adds one.")
    try phone.add("3c90d1f2e3a4b5c63c90d1f2e3a4b5c6", "Sunset.jpg", taken: 1_719_954_840)
    try tablet.add("3c90d1f2e3a4b5c63c90d1f2e3a4b5c6", "Bridge at night.jpg", taken: 1_719_954_840)
    try tablet.add("f8b63c2d1e0f9a8bf8b63c2d1e0f9a8b", "Fado.jpg", taken: 1_720_040_400)
    try phone.sync(with: remote)
    try tablet.sync(with: remote)
    // Overridden changes are kept: the device can reapply them.
    let lost = try tablet.photos.conflicts()
    for conflict in lost {
      let (own, other) = (conflict.localPhoto?.filename ?? "", conflict.remotePhoto?.filename ?? "")
      print("  \"\(own)\" lost to \"\(other)\", and is kept.")
    }

    print("\nThe tablet applies it again.")
    for conflict in lost { try tablet.photos.resolve(conflict.id, .keepLocal) }
    try tablet.sync(with: remote)
    try phone.sync(with: remote)
    try phone.sync(with: remote)

    var query = PhotoQuery()
    query.order = .photodate
    let names = try phone.photos.query(query).photos.map(\.photo.filename)
    print("\nBoth have \(names.joined(separator: ", ")).")
    let same = try Shard.Index.all.count { try phone.photos.exportShard($0) == tablet.photos.exportShard($0) }
    print("Their files are the same, byte for byte: \(same) of 16.")
    for device in [phone, tablet] { try device.store.close() }
  }

  /// Where the remote copy is.
  static func openRemote(in folder: String) throws -> any ObjectStore {
    let variables = ProcessInfo.processInfo.environment
    guard let bucket = variables["SATCHEL_S3_BUCKET"] else {
      return try DirectoryStore(path: "\(folder)/remote")
    }
    let prefix = "album-\(Int(Date().timeIntervalSince1970))"
    let endpoint = variables["SATCHEL_S3_ENDPOINT"].map { JSONValue.string($0) } ?? .null
    return try S3Store(json: ["bucket": .string(bucket), "prefix": .string(prefix), "endpoint": endpoint])
  }
}

/// A device has a store of its own.
struct Device {
  let name: String
  let store: Store
  let photos: PhotoCatalogue

  /// Opens a store in the folder, and the catalogue of a directory, which need not exist.
  init(_ name: String, in folder: String) throws {
    self.name = name
    store = try Store(path: "\(folder)/\(name).satchel")
    photos = try store.photos(in: "\(folder)/\(name)")
  }

  /// Adds a photo, or replaces its row.
  func add(_ md5: String, _ filename: String, taken: Int64) throws {
    guard let md5 = MD5(md5) else { return }
    let photo = Photo(
      md5: md5, filename: filename, size: 2_400_000, photodate: taken, modified: taken, width: 4032,
      height: 3024)
    try photos.upsert([photo])
  }

  /// Synchronizes, and prints which shards moved: a catalogue has sixteen, by the first digit of the MD5.
  func sync(with remote: any ObjectStore) throws {
    let report = try photos.sync(with: remote, user: UserID("lena"))
    let lists = [
      ("downloaded", report.downloaded), ("uploaded", report.uploaded), ("conflicts", report.conflicts),
    ]
    let moved = lists.filter { !$0.1.isEmpty }.map { list in
      "\(list.0) \(list.1.map(\.description).joined(separator: " "))"
    }
    let idle = "nothing to do, \(report.requests) request\(report.requests == 1 ? "" : "s")"
    let space = String(repeating: " ", count: 7 - name.count)
    print("  \(name):\(space)\(moved.isEmpty ? idle : moved.joined(separator: ", "))")
  }
}
