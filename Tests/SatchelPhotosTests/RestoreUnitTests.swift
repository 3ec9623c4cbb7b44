import Testing

@testable import SatchelPhotos

@Suite("The names of files that are restored together")
struct RestoreUnitTests {
  private func md5(_ digit: Int) -> MD5 { MD5(high: 0, low: UInt64(digit)) }

  private func row(_ path: String, _ content: Int, _ kind: FileKind = .photo, of photo: Int? = nil)
    -> BackupIndex.Row
  {
    BackupIndex.Row(
      path: path, md5: md5(content), size: 1, modified: 2, kind: kind, photo: photo.map { md5($0) })
  }

  @Test("films and sidecars are with the photo of their folder and name")
  func units() {
    let units = RestoreUnit.units([
      row("a/IMG_1.heic", 1), row("a/IMG_1.MOV", 2, .film, of: 1),
      row("a/IMG_1.heic.xmp", 3, .sidecar, of: 1),
      row("a/IMG_O1.AAE", 4, .sidecar, of: 1), row("b/IMG_1.mov", 5, .film, of: 1), row("b/copy.heic", 1),
      row("lone.mp4", 6, .film),
      // Of another device: the same photo with another sidecar.
      row("a/IMG_1.heic", 1), row("a/IMG_1.heic.xmp", 7, .sidecar, of: 1),
    ])
    #expect(
      units.map { $0.files.map(\.path) } == [
        ["a/IMG_1.heic", "a/IMG_1.MOV", "a/IMG_1.heic.xmp", "a/IMG_O1.AAE"], ["b/copy.heic"], ["b/IMG_1.mov"],
        ["lone.mp4"], ["a/IMG_1.heic.xmp"],
      ])
    #expect(
      units[0].paths(2) == [
        "a/IMG_1 (2).heic", "a/IMG_1 (2).MOV", "a/IMG_1 (2).heic.xmp", "a/IMG_O1 (2).AAE",
      ])
  }

  @Test("films and sidecars follow a photo that this device has under another path") func following() {
    var unit = RestoreUnit.units([
      row("a/IMG_1.heic", 1), row("a/IMG_1.MOV", 2, .film, of: 1),
      row("a/IMG_1.heic.xmp", 3, .sidecar, of: 1),
    ])[0]
    unit.follow("b/Zoë (2).HEIC")
    #expect(unit.files.map(\.path) == ["b/Zoë (2).heic", "b/Zoë (2).MOV", "b/Zoë (2).heic.xmp"])
  }

  @Test(
    "a number precedes the extension",
    arguments: [
      ("a.jpg", "a (3).jpg"), ("x.y/a", "x.y/a (3)"), ("é/ö.ü.png", "é/ö.ü (3).png"),
      (".hidden", ".hidden (3)"),
      ("a.longextension", "a.longextension (3)"),
    ])
  func numbered(_ path: String, _ expected: String) {
    #expect(RestoreUnit(.init(path: path, md5: md5(1))).paths(3) == [expected])
  }
}
