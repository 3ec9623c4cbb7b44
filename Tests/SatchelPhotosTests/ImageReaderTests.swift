import SatchelTesting
import Testing

@testable import SatchelPhotos

@Suite("Reading boxes and chunks")
struct ImageReaderTests {
  /// The usual tags as the EXIF of a container.
  private static let tiff = ScanExif.usual().tiff
  private static let xmp = ImageFiles.datedXMP("2012-03-04T05:06:07+01:00")

  private func facts(_ bytes: [UInt8], name: String = "a.heic", zone: Int64 = 0) -> ImageFacts {
    ScanFixture.facts(bytes, name: name, zone: zone)
  }

  private func expectUsual(_ facts: ImageFacts) {
    #expect(facts.date == 1_626_287_405 && facts.dateSource == .original && facts.cameraMake == "Zenit")
    #expect(facts.orientation == 6 && facts.longitude == 151.2 && facts.remark == nil)
  }

  // MARK: HEIF

  @Test(
    "The size of a HEIF is the one after clipping and rotation, in the order of its properties",
    arguments: [
      ([], 640, 480), ([ImageFiles.box("irot", [0])], 640, 480), ([ImageFiles.box("irot", [1])], 480, 640),
      ([ImageFiles.box("irot", [2])], 640, 480), ([ImageFiles.box("irot", [3])], 480, 640),
      ([ImageFiles.box("imir", [0])], 640, 480), ([clap(600, 400), ImageFiles.box("irot", [1])], 400, 600),
      ([ImageFiles.box("irot", [1]), clap(400, 600)], 400, 600), ([clap(700, 400)], 640, 480),
      ([ImageFiles.box("pixi", [0, 0, 0, 0, 3, 8, 8, 8]), ImageFiles.box("irot", [5])], 480, 640),
    ] as [([[UInt8]], Int64, Int64)])
  func rotation(properties: [[UInt8]], width: Int64, height: Int64) {
    for brand in ["heic", "mif1", "avif"] {
      let facts = facts(ImageFiles.HEIF(properties: properties).file(brand: brand))
      #expect(facts.width == width && facts.height == height && facts.remark == nil)
      #expect(facts.format == (brand == "avif" ? .avif : .heic))
    }
  }

  static func clap(_ width: Int, _ height: Int) -> [UInt8] {
    let numbers: [Int] = [width, 1, height, 1, 0, 1, 0, 1]
    return ImageFiles.box("clap", Array(numbers.map { ImageFiles.big($0) }.joined()))
  }

  @Test(
    "EXIF of a HEIF is read from the file or the box, in one part or several", arguments: [1, 3],
    [false, true])
  func exifItem(parts: Int, isInIdat: Bool) {
    let file = ImageFiles.HEIF(exifParts: parts, isInIdat: isInIdat, exif: Self.tiff, xmp: Self.xmp).file()
    let facts = facts(file)
    expectUsual(facts)
    #expect(facts.width == 640)
  }

  @Test("XMP of a HEIF, where it has no date of a camera")
  func xmpItem() {
    let facts = facts(ImageFiles.HEIF(xmp: Self.xmp).file())
    #expect(facts.date == 1_330_833_967 && facts.dateSource == .xmp && facts.utcOffset == 3600)
  }

  @Test("A HEIF whose EXIF is after the end of the file has its size, and a remark")
  func missingItem() {
    let file = ImageFiles.HEIF(exif: Self.tiff).file()
    let facts = facts(Array(file.dropLast(Self.tiff.count)))
    #expect(facts.width == 640 && facts.date == nil && facts.remark == "its EXIF is damaged")
  }

  // MARK: CR3 and JPEG XL

  @Test("The directories of a CR3 are TIFFs of their own")
  func cr3() {
    let usual = ScanExif.usual()
    var (main, photo, position) = (ScanExif(), ScanExif(), ScanExif())
    main.main = usual.main
    main.add(0x0100, .short([6000]))
    main.add(0x0101, .short([4000]))
    photo.main = usual.photo
    position.main = usual.position
    let facts = facts(ImageFiles.cr3(main, photo, position), name: "a.cr3")
    expectUsual(facts)
    #expect(facts.width == 6000 && facts.height == 4000 && facts.format == .cr3)
  }

  @Test(
    "The size of a JPEG XL: small or not, by a ratio or not, after the orientation of its codestream",
    arguments: [
      ([(1, 1), (3, 5), (2, 3), (1, 1)], 38, 32), ([(1, 1), (3, 5), (0, 3), (9, 5), (1, 1)], 80, 32),
      ([(0, 1), (0, 2), (479, 9), (3, 3), (1, 1)], 640, 480),
      ([(0, 1), (1, 2), (999, 13), (0, 3), (2, 2), (69_999, 18), (1, 1)], 70_000, 1000),
      ([(0, 1), (0, 2), (479, 9), (3, 3), (0, 1), (1, 1), (5, 3)], 480, 640),
      ([(0, 1), (0, 2), (479, 9), (3, 3), (0, 1), (1, 1), (3, 3)], 640, 480),
      ([(0, 1), (0, 2), (479, 9), (3, 3), (0, 1), (0, 1), (7, 3)], 640, 480),
    ] as [([(Int, Int)], Int64, Int64)])
  func codestream(fields: [(Int, Int)], width: Int64, height: Int64) {
    let stream = ImageFiles.codestream(fields.map { (value: $0.0, bits: $0.1) })
    let exif = ImageFiles.box("Exif", ImageFiles.big(0) + Self.tiff)
    let files = [
      stream, ImageFiles.jxl([ImageFiles.box("jxlc", stream), exif]),
      ImageFiles.jxl([exif, ImageFiles.box("jxlp", ImageFiles.big(0) + stream), ImageFiles.box("jxlp", [])]),
    ]
    for (index, file) in files.enumerated() {
      let facts = facts(file, name: "a.jxl")
      #expect(facts.width == width && facts.height == height && facts.format == .jxl)
      if index > 0 { expectUsual(facts) }
    }
  }

  @Test("Compressed EXIF is a remark, in a JPEG XL and in a PNG")
  func compressed() {
    let stream = ImageFiles.codestream([(1, 1), (3, 5), (1, 3), (1, 1)])
    let brob = ImageFiles.box("brob", Array("Exif".utf8) + [1, 2, 3])
    let jxl = facts(ImageFiles.jxl([ImageFiles.box("jxlc", stream), brob]), name: "a.jxl")
    let png = facts(ImageFiles.png([("zTXt", Array("Raw profile type exif\0\0x".utf8))]), name: "a.png")
    for facts in [jxl, png] {
      #expect(facts.width != nil && facts.remark == "its EXIF is compressed, and not read")
    }
  }

  @Test("JPEG 2000 with boxes and without")
  func jp2() {
    let header = ImageFiles.box("jp2h", ImageFiles.box("ihdr", ImageFiles.big(480) + ImageFiles.big(640)))
    let exif = ImageFiles.box("uuid", Array("JpgTiffExif->JP2".utf8) + Self.tiff)
    let signature = ImageFiles.box("jP  ", [0x0D, 0x0A, 0x87, 0x0A])
    let whole = facts(signature + ImageFiles.ftyp("jp2 ") + header + exif, name: "a.jp2")
    expectUsual(whole)
    var bytes: [UInt8] = [0xFF, 0x4F, 0xFF, 0x51, 0, 41, 0, 0]
    for number in [656, 490, 16, 10] { bytes += ImageFiles.big(number) }
    let stream = facts(bytes, name: "a.j2k")
    for facts in [whole, stream] { #expect(facts.width == 640 && facts.height == 480) }
  }

  // MARK: Chunks

  @Test("EXIF and XMP of a PNG, and a size of more than a million")
  func png() {
    expectUsual(facts(ImageFiles.png([("eXIf", Self.tiff)]), name: "a.png"))
    let text = Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + Self.xmp
    #expect(facts(ImageFiles.png([("iTXt", text)]), name: "a.png").dateSource == .xmp)
    #expect(facts(ImageFiles.png([], width: 1_200_000), name: "a.png").width == 1_200_000)
    #expect(facts(ImageFiles.png([], width: 0), name: "a.png").remark == "its pixel size cannot be read")
  }

  @Test("EXIF, XMP and the size of each kind of WebP")
  func webp() {
    typealias Chunk = (kind: String, content: [UInt8])
    let canvas: Chunk = ("VP8X", [0x0C, 0, 0, 0] + ImageFiles.little(639, 3) + ImageFiles.little(479, 3))
    let side = ImageFiles.little(640 | 1 << 14, 2) + ImageFiles.little(480, 2)
    let lossy: Chunk = ("VP8 ", [0, 0, 0, 0x9D, 0x01, 0x2A] + side)
    let lossless: Chunk = ("VP8L", [0x2F] + ImageFiles.little(639 | 479 << 14))
    for chunk in [canvas, lossy, lossless] {
      let file = ImageFiles.webp([chunk, ("EXIF", Array("Exif\0\0".utf8) + Self.tiff), ("XMP ", Self.xmp)])
      let facts = facts(file, name: "a.webp")
      expectUsual(facts)
      #expect(facts.width == 640 && facts.height == 480)
    }
    #expect(facts(ImageFiles.webp([canvas, ("XMP ", Self.xmp)]), name: "a.webp").dateSource == .xmp)
  }

  @Test("GIF and BMP: the old header, the new one, and one from top to bottom")
  func sizes() {
    let start = Array("BM".utf8) + ImageFiles.little(0, 12)
    let short = ImageFiles.little(640, 2) + ImageFiles.little(480, 2)
    let files: [[UInt8]] = [
      Array("GIF89a".utf8) + short, start + ImageFiles.little(12) + short,
      start + ImageFiles.little(40) + ImageFiles.little(640) + ImageFiles.little(480),
      start + ImageFiles.little(40) + ImageFiles.little(640) + ImageFiles.little(-480),
    ]
    for file in files {
      let facts = facts(file, name: "a.bmp")
      #expect(facts.width == 640 && facts.height == 480 && facts.remark == nil)
    }
    let negative = facts(start + ImageFiles.little(40) + ImageFiles.little(-640) + ImageFiles.little(480))
    #expect(negative.width == nil && negative.remark == "its pixel size cannot be read")
  }

  @Test("Minolta's raw files")
  func mrw() {
    let size = ImageFiles.big(0, 12) + ImageFiles.big(480, 2) + ImageFiles.big(640, 2)
    var file = Array("\0MRM".utf8) + ImageFiles.big(0)
    for (kind, content) in [("\0PRD", size), ("\0TTW", Self.tiff)] {
      file += Array(kind.utf8) + ImageFiles.big(content.count) + content
    }
    let facts = facts(file, name: "a.mrw")
    expectUsual(facts)
    #expect(facts.width == 640 && facts.height == 480)
  }

  // MARK: Hostile files

  private static var measured: ScanExif {
    var exif = ScanExif.usual()
    exif.add(0x0100, .short([6000]))
    exif.add(0x0101, .short([4000]))
    return exif
  }

  /// One file of each format.
  private static let sources: [[UInt8]] = [
    ImageFiles.HEIF(properties: [clap(600, 400), ImageFiles.box("irot", [1])], exif: tiff, xmp: xmp).file(),
    ImageFiles.HEIF(exifParts: 3, isInIdat: true, exif: tiff).file(brand: "avif"),
    ImageFiles.cr3(measured, .usual(), .usual()),
    ImageFiles.jxl([
      ImageFiles.box(
        "jxlc", ImageFiles.codestream([(0, 1), (0, 2), (479, 9), (3, 3), (0, 1), (1, 1), (5, 3)])),
      ImageFiles.box("Exif", ImageFiles.big(0) + tiff), ImageFiles.box("xml ", xmp),
    ]),
    ImageFiles.png([("eXIf", tiff), ("iTXt", Array("XML:com.adobe.xmp\0\0\0\0\0".utf8) + xmp)]),
    ImageFiles.webp([("VP8L", [0x2F] + ImageFiles.little(639 | 479 << 14)), ("EXIF", tiff), ("XMP ", xmp)]),
    ImageFiles.iptc([(55, "20120304"), (60, "050607+0100")]),
  ]

  @Test("Mutated containers do not trap, and cost a bounded number of reads", .timeLimit(.minutes(20)))
  func mutations() {
    var random = SeededRandom(seed: 37)
    for round in 0..<20_000 {
      var bytes = Self.sources[round % Self.sources.count]
      if bytes.first == 0xFF { bytes = [0xFF, 0xD8] + bytes + [0xFF, 0xD9] }
      for _ in 0...random.below(5) {
        let offset = random.below(bytes.count)
        switch random.below(5) {
        case 0: bytes[offset] = UInt8(random.below(256))
        case 1: bytes[offset] = random.pick([0, 1, 0x7F, 0x80, 0xFF])
        // A length, or an offset, of another magnitude.
        case 2:
          for index in offset..<min(offset + 4, bytes.count) { bytes[index] = random.pick([0, 0xFF]) }
        case 3: bytes.removeSubrange(offset..<min(bytes.count, offset + random.below(40)))
        default:
          bytes.insert(contentsOf: bytes[offset..<min(bytes.count, offset + random.below(40))], at: offset)
        }
        if bytes.isEmpty { bytes = [0] }
      }
      let facts = facts(bytes)
      #expect((facts.latitude == nil) == (facts.longitude == nil))
      #expect((facts.width ?? 1) > 0 && (facts.height ?? 1) > 0)
      #expect((facts.width == nil) == (facts.height == nil))
      #expect((facts.date == nil) == (facts.dateSource == nil))
      #expect((-54_000 - 3540...54_000 + 3540).contains(facts.utcOffset ?? 0))
    }
  }

  @Test("Every prefix of a container is used as far as it goes, or reported")
  func prefixes() {
    for source in Self.sources.dropLast() {
      for length in stride(from: 16, to: source.count, by: 3) {
        let facts = facts(Array(source.prefix(length)))
        #expect(facts.width != nil || facts.remark != nil, "\(length)")
      }
    }
  }

  @Test("Boxes in boxes, millions of chunks and directories that point to each other end")
  func bombs() {
    // Boxes without content.
    let empty = Array([[UInt8]](repeating: ImageFiles.box("free", []), count: 400_000).joined())
    #expect(facts(ImageFiles.ftyp("heic") + empty).remark == "its parts cannot be read")
    let chunks = ImageFiles.png((0..<300_000).map { _ in ("zzZz", []) } + [("eXIf", Self.tiff)])
    #expect(facts(chunks, name: "a.png").width == 640)
    let item = ImageFiles.big(2, 2) + ImageFiles.big(0, 2) + Array("Exif".utf8) + [0]
    // Tables of items that say how many there are, without the bytes for them.
    let places = ImageFiles.full("iloc", version: 2, [0x00, 0x00] + ImageFiles.big(-1))
    let properties = ImageFiles.box(
      "iprp", ImageFiles.box("ipco", []) + ImageFiles.full("ipma", ImageFiles.big(-1)))
    let items = ImageFiles.full("iinf", ImageFiles.big(0, 2) + ImageFiles.full("infe", version: 2, item))
    let meta = ImageFiles.full(
      "meta", ImageFiles.full("pitm", ImageFiles.big(1, 2)) + properties + items + places)
    #expect(facts(ImageFiles.ftyp("heic") + meta).remark == "its parts cannot be read; its EXIF is damaged")
    var exif = ScanExif.usual()
    exif.main += (0..<4000).map { _ in ScanExif.Tag(number: 0x014A, value: .long([8, 8, 8, 8, 8, 8])) }
    #expect(facts(exif.tiff, name: "a.dng").cameraMake == "Zenit")
  }
}
