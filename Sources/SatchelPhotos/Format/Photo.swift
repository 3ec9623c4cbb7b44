import SatchelCore
import SatchelJSON
import SatchelStorage

/// One row of a photo catalogue, which every platform shares.
public struct Photo: Sendable {
  /// The MD5 of the photo's bytes.
  public var md5: MD5
  /// The file's name, without its directory.
  public var filename: String
  /// The file's size in bytes.
  public var size: Int64
  /// When the photo was taken: Unix seconds, negative before 1970.
  public var photodate: Int64
  /// When the file was last modified: Unix seconds.
  public var modified: Int64
  /// Width in pixels; nil when unknown.
  public var width: Int64?
  /// Height in pixels; nil when unknown.
  public var height: Int64?
  /// The identifier in Apple's photo library; nil when the photo has none. An empty identifier counts as
  /// none.
  public var applePhotoID: String?

  public init(
    md5: MD5, filename: String, size: Int64, photodate: Int64, modified: Int64, width: Int64? = nil,
    height: Int64? = nil, applePhotoID: String? = nil
  ) {
    self.md5 = md5
    self.filename = filename
    self.size = size
    self.photodate = photodate
    self.modified = modified
    self.width = width
    self.height = height
    self.applePhotoID = applePhotoID?.isEmpty == true ? nil : applePhotoID
  }

  /// Checks that the values fit a row, so that what is written can be read again.
  ///
  /// - Throws: `SatchelError` (`invalid`) that names the photo and the column.
  package func validate() throws {
    guard size >= 0 else { throw fault("size", size) }
    if let width, width < 0 { throw fault("width", width) }
    if let height, height < 0 { throw fault("height", height) }
  }

  private func fault(_ column: String, _ value: Int64) -> SatchelError {
    SatchelError(.invalid, "photo \(md5): \(column) is \(value), must not be negative")
      .at(subject: Change.Subject.photos.rawValue, id: "\(md5)", pointer: "/\(column)")
  }
}

extension Photo: Equatable {
  /// Compares the rows byte for byte: names of the same look but other Unicode normal forms differ.
  public static func == (left: Photo, right: Photo) -> Bool {
    left.md5 == right.md5 && left.size == right.size && left.photodate == right.photodate
      && left.modified == right.modified && left.width == right.width && left.height == right.height
      && left.filename.utf8.elementsEqual(right.filename.utf8)
      && (left.applePhotoID ?? "").utf8.elementsEqual((right.applePhotoID ?? "").utf8)
  }
}

extension Photo: JSONConvertible {
  /// Adds the row's JSON members, in the order of its columns.
  func add(to members: inout some (JSONMemberSink & ~Copyable)) {
    members.add("md5", md5.description)
    members.add("filename", filename)
    members.add("size", size)
    members.add("photodate", photodate)
    members.add("modified", modified)
    members.add("width", width)
    members.add("height", height)
    members.add("apple_photo_id", applePhotoID)
  }

  /// The photo as a JSON object: md5, filename, size, photodate, modified, width, height, apple_photo_id.
  public var json: JSONValue {
    var members = JSONMemberList()
    add(to: &members)
    return members.json
  }

  /// The names of the JSON members.
  static let keys: Set = [
    "md5", "filename", "size", "photodate", "modified", "width", "height", "apple_photo_id",
  ]

  /// Reads an object that `json` wrote; width, height and apple_photo_id may be null or absent.
  ///
  /// - Throws: `SatchelError` (`invalid`) that names the key
  package init(json: JSONValue) throws { try self.init(JSONReading("photo", json, keys: Self.keys)) }

  init(_ object: JSONReading) throws {
    guard let md5 = MD5(try object.required("md5", object.string("md5"))) else {
      throw object.fault("md5", "is not 32 hexadecimal digits")
    }
    self.init(
      md5: md5, filename: try object.required("filename", object.string("filename")),
      size: try object.required("size", object.integer("size")),
      photodate: try object.required("photodate", object.integer("photodate")),
      modified: try object.required("modified", object.integer("modified")),
      width: try object.integer("width"),
      height: try object.integer("height"), applePhotoID: try object.string("apple_photo_id"))
    try validate()
  }
}
